package deadline

import (
	"net/http"
	"strconv"
	"time"
)

// The two headers in which a deadline is passed down. Both are whole numbers
// in decimal digits.
const (
	// HeaderTimeout holds the milliseconds that are left when it is sent.
	HeaderTimeout = "X-Request-Timeout-Ms"
	// HeaderDeadline holds the same moment as Unix milliseconds.
	HeaderDeadline = "X-Request-Deadline"
)

// MaxCap is the longest time that makes sense here, as a cap and as a header:
// a year. What is longer is a mistake in the unit or an overflow.
const MaxCap = 366 * 24 * time.Hour

// onWire returns both header values for left of time from now on, and false if
// nothing is left. Both are rounded down, so that they never promise more than
// there is, but for the last millisecond: a call that may be sent must not read
// as over on the other side.
func onWire(left time.Duration, now time.Time) (timeout, moment int64, ok bool) {
	if left <= 0 {
		return 0, 0, false
	}
	left = min(left, MaxCap)
	timeout = max(1, left.Milliseconds())
	moment = max(now.UnixMilli()+1, now.Add(left).UnixMilli())
	return timeout, moment, true
}

// Set sets both headers in h for a call that is sent now and has left of time,
// and returns true. It is to be called for each attempt, when it is sent.
//
// The value is in whole milliseconds, rounded down, and at least 1. With
// nothing left it returns false: the call must not be sent. It then takes both
// headers out of h, so that no older value goes down in their place. More than
// MaxCap is sent as MaxCap.
func Set(h http.Header, left time.Duration, now time.Time) bool {
	return SetIn(new([2]string), h, left, now)
}

// SetIn is Set with the place in which h keeps the values, for whoever has one at
// hand. It must not be used again while h is.
func SetIn(values *[2]string, h http.Header, left time.Duration, now time.Time) bool {
	timeout, moment, ok := onWire(left, now)
	if !ok {
		delete(h, HeaderTimeout)
		delete(h, HeaderDeadline)
		return false
	}
	// One string for both: this is done for every attempt.
	var buf [40]byte
	text := strconv.AppendInt(buf[:0], timeout, 10)
	n := len(text)
	both := string(strconv.AppendInt(text, moment, 10))
	values[0], values[1] = both[:n], both[n:]
	h[HeaderTimeout] = values[0:1:1]
	h[HeaderDeadline] = values[1:2:2]
	return true
}

// Append appends both headers to dst as lines of an HTTP/1.1 head, each ended
// by CR LF, with the same values as Set, for whoever writes heads without a
// http.Header. It allocates nothing if dst has room for LinesMax bytes. With
// nothing left it returns dst as it is and false: the call must not be sent.
func Append(dst []byte, left time.Duration, now time.Time) ([]byte, bool) {
	timeout, moment, ok := onWire(left, now)
	if !ok {
		return dst, false
	}
	dst = append(dst, HeaderTimeout+": "...)
	dst = strconv.AppendInt(dst, timeout, 10)
	dst = append(dst, "\r\n"+HeaderDeadline+": "...)
	dst = strconv.AppendInt(dst, moment, 10)
	return append(dst, "\r\n"...), true
}

// LinesMax is the most bytes that Append adds.
const LinesMax = len(HeaderTimeout) + len(HeaderDeadline) + 2*len(": \r\n") + len("31622400000") + len("-9223372036854775808")
