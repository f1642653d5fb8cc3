package prove

import (
	"errors"
	"os"
)

// Windows cannot stop a process from outside: workers are killed only.
func stop(*os.Process) error   { return errors.ErrUnsupported }
func resume(*os.Process) error { return errors.ErrUnsupported }
