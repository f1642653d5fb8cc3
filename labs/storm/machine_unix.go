//go:build unix

package storm

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is how long processors have worked for this process, negative if the
// system does not tell.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return -1
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// connections is how many connections there may be at once: two descriptors
// each, since both ends may be in this process, and some to spare.
func connections() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return leastConnections
	}
	const spare = 200
	return max(leastConnections, int(min(uint64(limit.Cur)/2, maxConnections+spare))-spare)
}

// leastConnections is what even the narrowest limit leaves room for.
const leastConnections = 50
