package deadline_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"chaoslab/budgetcaller/deadline"
)

func TestSetAndAppend(t *testing.T) {
	t.Parallel()
	const start = 1_700_000_000_000
	for _, c := range []struct {
		name            string
		left            time.Duration
		now             time.Duration // after start
		timeout, moment int64         // 0: nothing may be sent
	}{
		{"whole", 250 * ms, 0, 250, start + 250},
		{"rounded down", 250*ms + 999*time.Microsecond, 0, 250, start + 250},
		{"the moment is rounded down by itself", 250*ms + 600*time.Microsecond, 600 * time.Microsecond, 250, start + 251},
		{"one", ms, 0, 1, start + 1},
		{"less than one", 10 * time.Microsecond, 0, 1, start + 1},
		{"less than one, late in the millisecond", 10 * time.Microsecond, 900 * time.Microsecond, 1, start + 1},
		{"one nanosecond", 1, 0, 1, start + 1},
		{"nothing", 0, 0, 0, 0},
		{"less than nothing", -time.Second, 0, 0, 0},
		{"the least", math.MinInt64, 0, 0, 0},
		{"a year", deadline.MaxCap, 0, 31622400000, start + 31622400000},
		{"the most", math.MaxInt64, 0, 31622400000, start + 31622400000},
	} {
		now := time.UnixMilli(start).Add(c.now)
		h := headers(one("old"), one("old"))
		h["Accept"] = one("*/*")
		want, lines := http.Header{"Accept": one("*/*")}, ""
		if c.timeout != 0 {
			want = headers(one(fmt.Sprint(c.timeout)), one(fmt.Sprint(c.moment)))
			want["Accept"] = one("*/*")
			lines = fmt.Sprintf("X-Request-Timeout-Ms: %d\r\nX-Request-Deadline: %d\r\n", c.timeout, c.moment)
		}
		if ok := deadline.Set(h, c.left, now); ok != (c.timeout != 0) || fmt.Sprint(h) != fmt.Sprint(want) {
			t.Errorf("%s: Set(%v) = %v, %v, want %v", c.name, c.left, ok, h, want)
		}
		const before = "GET / HTTP/1.1\r\n"
		if got, ok := deadline.Append([]byte(before), c.left, now); ok != (c.timeout != 0) || string(got) != before+lines {
			t.Errorf("%s: Append(%v) = %q, %v, want %q", c.name, c.left, got, ok, before+lines)
		}
	}
}

// The values of one header must not grow into the other's.
func TestSetHeadersAreApart(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	deadline.Set(h, 250*ms, arrival())
	want := h.Get(deadline.HeaderDeadline)
	h.Add(deadline.HeaderTimeout, "x")
	if got := h.Values(deadline.HeaderDeadline); len(got) != 1 || got[0] != want {
		t.Errorf("after Add to the one, the other is %q, want %q alone", got, want)
	}
}

func TestAppendFitsLinesMax(t *testing.T) {
	t.Parallel()
	// The year 9999, the last that other formats can hold.
	got, _ := deadline.Append(nil, deadline.MaxCap, time.UnixMilli(253402300799999))
	if len(got) > deadline.LinesMax {
		t.Errorf("%q has %d bytes, want at most %d", got, len(got), deadline.LinesMax)
	}
}

// What is sent is adopted on the other side as what was left, less what its
// rounding takes off, never as more and never as over.
func FuzzRoundTrip(f *testing.F) {
	f.Add(int64(250*ms), int64(0), int64(1_700_000_000_000_000_000))
	f.Add(int64(1), int64(0), int64(1_700_000_000_000_999_999))
	f.Add(int64(time.Second), int64(10*ms), int64(1_700_000_000_000_500_000))
	f.Fuzz(func(t *testing.T, left, wait, at int64) {
		if left <= 0 || left > int64(deadline.MaxCap) || wait < 0 || wait > int64(time.Second) ||
			at < int64(2*deadline.MaxCap) || at > math.MaxInt64-int64(3*deadline.MaxCap) {
			return // outside of what is ever sent
		}
		sent := time.Unix(0, at)
		h := http.Header{}
		if !deadline.Set(h, time.Duration(left), sent) {
			t.Fatalf("Set(%v) = false", time.Duration(left))
		}
		until, v := deadline.Adopt(h, sent.Add(time.Duration(wait)), deadline.MaxCap, 2*time.Second)
		got := until.Sub(sent)
		switch {
		case wait == 0 && v.Over:
			t.Errorf("left %v: %v reads as over", time.Duration(left), h)
		case !v.Over && got > max(time.Duration(left), ms):
			t.Errorf("left %v, wait %v: adopted %v: %v", time.Duration(left), time.Duration(wait), got, h)
		case !v.Over && got < time.Duration(left)-ms:
			t.Errorf("left %v, wait %v: adopted only %v: %v", time.Duration(left), time.Duration(wait), got, h)
		}
	})
}

// Not parallel: testing.AllocsPerRun counts what every goroutine allocates.
func TestNoAllocations(t *testing.T) {
	now := time.Now()
	buf := make([]byte, 0, deadline.LinesMax)
	h := headers(one("250"), one(fmt.Sprint(now.Add(200*ms).UnixMilli())))
	for name, f := range map[string]func(){
		"Append": func() { _, _ = deadline.Append(buf, 250*ms, now) },
		"Adopt":  func() { _, _ = deadline.Adopt(h, now, most, skew) },
	} {
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	buf := make([]byte, 0, deadline.LinesMax)
	now := time.Now()
	for b.Loop() {
		buf, _ = deadline.Append(buf[:0], 250*ms, now)
	}
}

func BenchmarkSet(b *testing.B) {
	b.ReportAllocs()
	h := http.Header{}
	now := time.Now()
	for b.Loop() {
		deadline.Set(h, 250*ms, now)
	}
}

func BenchmarkAdopt(b *testing.B) {
	b.ReportAllocs()
	now := time.Now()
	h := headers(one("250"), one(fmt.Sprint(now.Add(200*ms).UnixMilli())))
	for b.Loop() {
		_, _ = deadline.Adopt(h, now, most, skew)
	}
}
