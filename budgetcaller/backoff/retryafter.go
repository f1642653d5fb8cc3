package backoff

import (
	"strings"
	"time"
)

// MaxRetryAfter is the longest that ParseRetryAfter returns: longer than any
// budget, and short enough that a sum with it does not overflow.
const MaxRetryAfter = 10 * MaxDelay

// ParseRetryAfter reads the value of a Retry-After header (RFC 9110, section
// 10.2.3): whole seconds, or a date in any of the three forms of section 5.6.7.
// It returns how long after now the partner wants to be left alone, at most
// MaxRetryAfter, however many digits were sent. It is false for anything else: an
// empty, negative, fractional or malformed value, and a date before now.
//
// Zero is a value of its own: the partner invites a retry at once. Whoever
// wants no hot loop waits the longer of this and its own backoff.
func ParseRetryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.Trim(value, " \t")
	if seconds, ok := parseSeconds(value); ok {
		return seconds, true
	}
	for _, layout := range [...]string{
		"Mon, 02 Jan 2006 15:04:05 GMT",  // IMF-fixdate
		"Monday, 02-Jan-06 15:04:05 GMT", // RFC 850, obsolete
		time.ANSIC,                       // asctime, obsolete
	} {
		date, err := time.Parse(layout, value)
		if err != nil {
			continue
		}
		// A date has no monotonic reading, so this compares wall clocks, and Sub
		// saturates instead of overflowing.
		if wait := date.Sub(now); wait >= 0 {
			return min(wait, MaxRetryAfter), true
		}
		return 0, false
	}
	return 0, false
}

// parseSeconds accepts digits and nothing else: strconv would take a sign.
func parseSeconds(value string) (time.Duration, bool) {
	const most = int64(MaxRetryAfter / time.Second)
	seconds := int64(0)
	for i := range len(value) {
		c := value[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		seconds = min(most, seconds*10+int64(c-'0'))
	}
	return time.Duration(seconds) * time.Second, value != ""
}
