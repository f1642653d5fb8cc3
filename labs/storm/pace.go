package storm

import (
	"context"
	"time"
)

// pace says when calls fall due: perSecond of them, evenly, forever. Call n is
// that of instance n modulo the number of instances, so each instance calls
// evenly too.
type pace struct{ perSecond int64 }

// due returns when call n falls due, from the start.
func (p pace) due(n int) time.Duration {
	return time.Duration(int64(n) * int64(time.Second) / p.perSecond)
}

// run calls launch for each of count calls when it is due, in order, and with
// how late it is. It never waits for anything but the time, and ends early when
// ctx does. It returns how many it launched.
func (p pace) run(ctx context.Context, start time.Time, count int, launch func(n int, late time.Duration)) int {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; n < count; {
		now := time.Since(start)
		for n < count && p.due(n) <= now {
			launch(n, now-p.due(n))
			n++
		}
		if n == count {
			break
		}
		timer.Reset(p.due(n) - time.Since(start))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return n
		}
	}
	return count
}
