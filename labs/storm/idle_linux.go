package storm

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// idleTime is how long all processors together have had nothing to do, negative
// if the system does not tell. See proc_stat(5): columns 4 and 5 of the first
// line, in hundredths of a second.
func idleTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return -1
	}
	return parseIdle(string(text))
}

func parseIdle(text string) time.Duration {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		return -1
	}
	idle, err := strconv.ParseUint(fields[4], 10, 50)
	wait, failed := strconv.ParseUint(fields[5], 10, 50)
	if err != nil || failed != nil {
		return -1
	}
	const tick = 10 * time.Millisecond
	return time.Duration(idle+wait) * tick
}
