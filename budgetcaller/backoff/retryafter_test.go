package backoff

import (
	"strings"
	"testing"
	"time"
)

// B3: what a partner may send as Retry-After, and what it means.
func TestB3RetryAfterValues(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 1, 12, 0, 0, 250*int(ms), time.UTC)
	const imf = "Mon, 02 Jan 2006 15:04:05 GMT"
	at := func(d time.Duration) string { return now.Add(d).Format(imf) }
	for _, c := range []struct {
		name, value string
		want        time.Duration
		ok          bool
	}{
		{"a day", "86400", 24 * time.Hour, true},
		{"a second", "1", time.Second, true},
		{"at once", "0", 0, true},
		{"leading zeros", "0000000000000000000000001", time.Second, true},
		{"blanks around", " \t5 ", 5 * time.Second, true},
		{"a date 1 s ahead", at(time.Second), 750 * ms, true},
		{"a date at this second, now past", at(0), 0, false},
		{"a date in the past", at(-time.Hour), 0, false},
		{"a date long past", "Mon, 01 Jan 0001 00:00:00 GMT", 0, false},
		{"a date far ahead", "Fri, 31 Dec 9999 23:59:59 GMT", MaxRetryAfter, true},
		{"RFC 850", "Sunday, 01-Mar-26 12:01:00 GMT", 59*time.Second + 750*ms, true},
		{"asctime", "Sun Mar  1 12:01:00 2026", 59*time.Second + 750*ms, true},
		{"19 digits", "9223372036854775807", MaxRetryAfter, true},
		{"20 digits", "18446744073709551616", MaxRetryAfter, true},
		{"a thousand digits", strings.Repeat("9", 1000), MaxRetryAfter, true},
		{"just below the most", "316223999", MaxRetryAfter - time.Second, true},
		{"negative", "-5", 0, false},
		{"signed", "+5", 0, false},
		{"fractional", "1.5", 0, false},
		{"exponent", "1e9", 0, false},
		{"hexadecimal", "0x10", 0, false},
		{"underscore", "1_000", 0, false},
		{"with a unit", "5s", 0, false},
		{"two values", "5, 6", 0, false},
		{"word", "abc", 0, false},
		{"empty", "", 0, false},
		{"blank", "  ", 0, false},
		{"digits of another script", "٥", 0, false},
		{"a zone that is not GMT", "Sun, 01 Mar 2026 12:01:00 PST", 0, false},
		{"RFC 850 in another zone", "Sunday, 01-Mar-26 12:01:00 PST", 0, false},
		{"an offset", "Sun, 01 Mar 2026 12:01:00 +0100", 0, false},
		{"ISO 8601", "2026-03-01T12:01:00Z", 0, false},
		{"no such day", "Mon, 30 Feb 2026 12:01:00 GMT", 0, false},
		{"more behind the date", at(time.Minute) + "x", 0, false},
	} {
		if got, ok := ParseRetryAfter(c.value, now); got != c.want || ok != c.ok {
			t.Errorf("%s: ParseRetryAfter(%q, %v) = %v, %v, want %v, %v", c.name, c.value, now, got, ok, c.want, c.ok)
		}
	}
}

// The date is the partner's: it is compared with the wall clock in any zone.
func TestRetryAfterDateInAnotherZone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 1, 14, 0, 0, 0, time.FixedZone("", 2*60*60))
	const value = "Sun, 01 Mar 2026 12:01:00 GMT"
	if got, ok := ParseRetryAfter(value, now); got != time.Minute || !ok {
		t.Errorf("ParseRetryAfter(%q, %v) = %v, %v, want 1m, true", value, now, got, ok)
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, value := range []string{
		"", "0", "1", "-5", "1.5", "abc", "86400", "9223372036854775807", "99999999999999999999",
		"Sun, 01 Mar 2026 12:01:00 GMT", "Sunday, 01-Mar-26 12:01:00 GMT", "Sun Mar  1 12:01:00 2026",
	} {
		f.Add(value, int64(1772366400), int64(0))
	}
	f.Fuzz(func(t *testing.T, value string, sec, nsec int64) {
		now := time.Unix(sec, nsec%int64(time.Second))
		got, ok := ParseRetryAfter(value, now)
		if got < 0 || got > MaxRetryAfter || !ok && got != 0 {
			t.Errorf("ParseRetryAfter(%q, %v) = %v, %v: out of range", value, now, got, ok)
		}
		trimmed := strings.Trim(value, " \t")
		if digits := trimmed != "" && strings.Trim(trimmed, "0123456789") == ""; digits && !ok {
			t.Errorf("ParseRetryAfter(%q, %v) is absent, want seconds", value, now)
		}
		if ok && strings.HasPrefix(trimmed, "-") {
			t.Errorf("ParseRetryAfter(%q, %v) = %v: negative", value, now, got)
		}
		if again, okAgain := ParseRetryAfter(" "+trimmed+"\t", now); again != got || okAgain != ok {
			t.Errorf("ParseRetryAfter(%q) = %v, %v, with blanks %v, %v", value, got, ok, again, okAgain)
		}
	})
}

func BenchmarkParseRetryAfter(b *testing.B) {
	now := time.Unix(1772366400, 0)
	for _, value := range []string{"120", "Sun, 01 Mar 2026 12:01:00 GMT"} {
		b.Run(value, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ParseRetryAfter(value, now)
			}
		})
	}
}
