package confine

import "errors"

// ErrUnavailable says that this machine cannot confine a command.
var ErrUnavailable = errors.New("programs cannot be confined")

// helperName is argv[0] of the process that confines itself.
const helperName = "lab-confine"

// exitFailed is the helper's own exit code; why is written to Start's end of the
// pipe.
const exitFailed = 126
