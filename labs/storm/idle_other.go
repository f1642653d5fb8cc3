//go:build !linux

package storm

import "time"

// idleTime is not known here.
func idleTime() time.Duration { return -1 }
