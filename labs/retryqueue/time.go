package retryqueue

import (
	"fmt"
	"math"
	"time"
)

// Millis is a point in time in whole Unix milliseconds. It is not a time.Time on
// purpose: that compares by its monotonic reading and so hides a clock that
// stepped back. Zero is no time.
type Millis int64

// MaxMillis is the greatest point in time that is accepted: 2^53, up to which
// JSON numbers are exact.
const MaxMillis Millis = 1 << 53

// MillisOf returns t in whole milliseconds, rounded down.
func MillisOf(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time returns m as a time.Time in UTC without a monotonic reading.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Add returns the point in time d later, in whole milliseconds rounded down and
// never beyond MaxMillis.
func (m Millis) Add(d time.Duration) Millis {
	return m.plus(d.Milliseconds())
}

// Sub returns the time from u to m, without overflow.
func (m Millis) Sub(u Millis) time.Duration {
	d := int64(m) - int64(u)
	switch {
	case d > math.MaxInt64/int64(time.Millisecond):
		return math.MaxInt64
	case d < math.MinInt64/int64(time.Millisecond):
		return math.MinInt64
	}
	return time.Duration(d) * time.Millisecond
}

func (m Millis) plus(ms int64) Millis {
	if ms > int64(MaxMillis)-int64(m) {
		return MaxMillis
	}
	return m + Millis(ms)
}

func checkMillis(name string, m Millis) error {
	if m <= 0 || m > MaxMillis {
		return fmt.Errorf("%s: %d is no point in time: from 1 to %d (Unix milliseconds)", name, m, MaxMillis)
	}
	return nil
}
