package sandbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// job is what the starting process tells the first process of the sandbox, as
// arguments, so that a list of processes shows it.
type job struct {
	probe      bool   // set up, check, and end
	outside    string // the network namespace of whoever started this
	synRetries int
	path       string
	argv       []string
}

const (
	initName     = "sandbox-init" // argv[0] of the first process
	probed       = "black"        // what a probe that went well writes to stdout
	netNamespace = "/proc/self/ns/net"
)

func isInit(args []string) bool { return len(args) > 0 && args[0] == initName }

func (j job) args() []string {
	verb := "run"
	if j.probe {
		verb = "probe"
	}
	return append([]string{initName, verb, j.outside, strconv.Itoa(j.synRetries), j.path}, j.argv...)
}

func parseJob(args []string) (job, error) {
	if len(args) < 4 {
		return job{}, errors.New("too few arguments: this is only for the sandbox to start")
	}
	j := job{probe: args[0] == "probe", outside: args[1], path: args[3], argv: args[4:]}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return job{}, fmt.Errorf("syn retries: %w", err)
	}
	j.synRetries = n
	if err := (Options{SynRetries: n}).check(); err != nil {
		return job{}, err
	}
	switch {
	case !j.probe && args[0] != "run":
		return job{}, fmt.Errorf("verb %q: this is only for the sandbox to start", args[0])
	case !strings.HasPrefix(j.outside, "net:["):
		return job{}, fmt.Errorf("outer network namespace %q: want net:[N]", j.outside)
	case !j.probe && len(j.argv) == 0:
		return job{}, errors.New("no command")
	}
	return j, nil
}
