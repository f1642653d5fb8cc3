//go:build !unix

package storm

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return -1 }

// connections is how many connections there may be at once.
func connections() int { return maxConnections }
