package deadline

import (
	"net/http"
	"time"
)

// Values holds what was received of the two headers: one string for each time
// that a header was sent, nil if it was not.
type Values struct {
	Timeout  []string // of HeaderTimeout
	Deadline []string // of HeaderDeadline
}

// ValuesOf returns the values in h, whose keys must be in canonical form, as
// net/http makes them.
func ValuesOf(h http.Header) Values {
	return Values{Timeout: h[HeaderTimeout], Deadline: h[HeaderDeadline]}
}

// Source says what set a deadline.
type Source uint8

const (
	// ByCap: the receiver's own cap, since nothing usable came or since it is
	// the shortest.
	ByCap Source = iota
	// ByTimeout: HeaderTimeout, the relative value.
	ByTimeout
	// ByMoment: HeaderDeadline, the absolute value, which came alone or is a
	// little earlier than the relative one.
	ByMoment
)

// String returns the source as one lower-case word, fit for a metric's label.
func (s Source) String() string {
	switch s {
	case ByCap:
		return "cap"
	case ByTimeout:
		return "timeout"
	case ByMoment:
		return "moment"
	}
	return "unknown"
}

// Verdict says how a deadline was come by. The zero value is that of a request
// without headers.
type Verdict struct {
	By       Source  // what set it
	Over     bool    // it is already over: nothing is to be done or passed on
	Timeout  Reading // what became of HeaderTimeout
	Deadline Reading // what became of HeaderDeadline
}

// Adopt returns until when a request may take whose head arrived at arrived
// and had the headers h, and how that was decided:
//
//   - The relative value counts from arrived on.
//   - The absolute value may only make that shorter, and only where the two lie
//     no further apart than skew. So a wrong clock cannot end good calls, and
//     time that the request spent in a queue before it arrived still counts. A
//     clock that is wrong by less than skew shortens calls by as much: let skew
//     be what the clocks are sure to hold.
//   - An absolute value alone is used as it is.
//   - What is Malformed, Doubled or Absurd counts as absent.
//   - Zero or less, in the relative value or in an absolute one alone, means
//     that it is already over, as does a moment that is past.
//   - It is never later than most after arrived, whatever was sent. With most
//     at zero or less it is always over.
//
// The deadline is never before arrived, and is arrived if it is over. It has a
// monotonic clock reading if arrived has one, so a clock that is set later does
// not move it. Adopt allocates nothing and never fails.
func Adopt(h http.Header, arrived time.Time, most, skew time.Duration) (time.Time, Verdict) {
	return ValuesOf(h).adopt(arrived, most, skew)
}

func (v Values) adopt(arrived time.Time, most, skew time.Duration) (time.Time, Verdict) {
	var verdict Verdict
	timeout, reading := readTimeout(v.Timeout)
	verdict.Timeout = reading
	moment, reading := readMoment(v.Deadline, arrived)
	verdict.Deadline = reading

	left := most
	shorten := func(d time.Duration, by Source) {
		if d <= left {
			left, verdict.By = d, by
		}
	}
	switch {
	case verdict.Timeout == Read && verdict.Deadline == Read:
		shorten(timeout, ByTimeout)
		if apart := moment - timeout; apart > skew || -apart > skew {
			verdict.Deadline = Skewed
		} else if apart < 0 {
			shorten(moment, ByMoment)
		}
	case verdict.Timeout == Read:
		shorten(timeout, ByTimeout)
	case verdict.Deadline == Read:
		shorten(moment, ByMoment)
	}
	if left <= 0 {
		verdict.Over = true
		return arrived, verdict
	}
	return arrived.Add(left), verdict
}

// readTimeout reads the relative value.
func readTimeout(values []string) (time.Duration, Reading) {
	ms, reading := Parse(values)
	switch {
	case reading != Read || ms <= 0:
		return 0, reading
	case ms > MaxCap.Milliseconds():
		return 0, Absurd
	}
	return time.Duration(ms) * time.Millisecond, Read
}

// readMoment reads the absolute value, as the time from arrived until then.
// Zero or less is no moment but the word for over: the least that can be, so
// that it agrees with no relative value that leaves any time.
func readMoment(values []string, arrived time.Time) (time.Duration, Reading) {
	ms, reading := Parse(values)
	switch {
	case reading != Read:
		return 0, reading
	case ms <= 0:
		return -MaxCap, Read
	}
	d := time.UnixMilli(ms).Sub(arrived) // by the wall clock; it saturates
	if d > MaxCap || d < -MaxCap {
		return 0, Absurd
	}
	return d, Read
}
