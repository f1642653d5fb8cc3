package referee

import (
	"os/exec"
	"time"
)

// The bounds on a student's program.
const (
	maxOutput  = 256 << 10 // bytes of output that are kept
	tooMuch    = 8 << 20   // bytes at which it is ended
	maxFile    = 256 << 20 // bytes of one file that it writes, on Linux
	askFirst   = 300 * time.Millisecond
	drainDelay = 300 * time.Millisecond // for output still held by children
	graceful   = 100 * time.Millisecond // for children that are just ending
	maxSweeps  = 100
)

// process is one run of a program.
type process struct {
	cmd     *exec.Cmd
	mark    string
	started time.Time
	ended   time.Time // valid once done is closed
	done    chan struct{}
	err     error // of Wait; valid once done is closed
}

// start starts argv, with synRetries in a private network. What it writes goes to
// rec.
func (p *Program) start(env []string, rec *recorder, synRetries int) (*process, error) {
	pr := &process{mark: newMark(), done: make(chan struct{})}
	begin := (*exec.Cmd).Start
	switch {
	case synRetries > 0:
		var err error
		if pr.cmd, err = p.inSandbox(synRetries); err != nil {
			return nil, err
		}
	case p.confined:
		begin = p.startConfined
		fallthrough
	default:
		pr.cmd = exec.Command(p.argv[0], p.argv[1:]...)
	}
	pr.cmd.Dir = p.dir
	pr.cmd.Env = append(append(append([]string{}, p.env...),
		"TMPDIR="+p.scratch, "TMP="+p.scratch, "TEMP="+p.scratch,
		"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1", mark+"="+pr.mark), env...)
	pr.cmd.Stdout, pr.cmd.Stderr = rec.stream(false), rec.stream(true)
	pr.cmd.WaitDelay = drainDelay
	ownGroup(pr.cmd)
	pr.started = time.Now()
	if err := begin(pr.cmd); err != nil {
		return nil, err
	}
	boundFiles(pr.cmd.Process.Pid)
	go func() {
		defer close(pr.done)
		pr.err = pr.cmd.Wait()
		pr.ended = time.Now()
	}()
	return pr, nil
}

// exit returns the exit code, -1 after a signal. It is valid once done is closed.
func (p *process) exit() int {
	if p.cmd.ProcessState == nil {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

// kill ends the whole group at once and waits.
func (p *process) kill() {
	_ = signalGroup(p.cmd.Process.Pid, true)
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop asks the group to end, and then does not ask any more.
func (p *process) stop() {
	_ = signalGroup(p.cmd.Process.Pid, false)
	t := time.NewTimer(askFirst)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
	}
	p.kill()
}

// sweep ends what a program left behind and says how many processes that were.
// Those that left the group still have the mark, or are kin: seen as its descendants.
func (p *process) sweep(kin map[int]string) int {
	entry := mark + "=" + p.mark
	left := leftOf(p.cmd.Process.Pid, entry, kin, false)
	if left > 0 {
		// A child may be just ending by itself.
		<-time.After(graceful)
		left = leftOf(p.cmd.Process.Pid, entry, kin, false)
	}
	_ = signalGroup(p.cmd.Process.Pid, true)
	for range maxSweeps { // they may be starting others meanwhile
		if leftOf(p.cmd.Process.Pid, entry, kin, true) == 0 {
			break
		}
	}
	return left
}
