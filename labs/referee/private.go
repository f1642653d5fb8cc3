package referee

import (
	"context"
	"errors"
	"net/netip"
	"os/exec"
	"path/filepath"

	"chaoslab/labs/referee/confine"
	"chaoslab/labs/sandbox"
)

// blackHolePort is that of LAB_URL in a private network.
const blackHolePort = 80

// blackHoleURL is LAB_URL in a private network.
func blackHoleURL() string {
	return "http://" + netip.AddrPortFrom(sandbox.BlackHole().Addr().Next(), blackHolePort).String() + "/"
}

// Lacks returns why the program cannot be run in the scenario on this machine, or
// nil.
func (p *Program) Lacks(s *Scenario) error {
	switch {
	case s.SynRetries == 0:
		return nil
	case !p.sandbox:
		return errors.New("it needs a private network, which was not asked for")
	}
	return sandbox.Available()
}

// inSandbox returns the command that runs the program in a private network, and
// there confined if it is elsewhere.
func (p *Program) inSandbox(synRetries int) (*exec.Cmd, error) {
	o := sandbox.Options{SynRetries: synRetries}
	// The end of a run ends it, as it does every program: not a context.
	ctx := context.Background()
	if !p.confined {
		return sandbox.Command(ctx, o, p.argv[0], p.argv[1:]...)
	}
	path, err := exec.LookPath(p.argv[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	return sandbox.Command(ctx, o, "/proc/self/exe", confine.Args(p.writable(), path, p.argv)...)
}
