package storm

import (
	"testing"
	"time"
)

func TestParseIdleLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"cpu  10 20 30 400 50 0 0 0 0 0\ncpu0 1 2 3 4 5", 4500 * ms},
		{"", -1},
		{"cpu 1 2 3", -1},
		{"intr 1 2 3 4 5", -1},
		{"cpu a b c d e", -1},
		{"cpu 1 1 1 99999999999999999999 1", -1},
	} {
		if got := parseIdle(c.text); got != c.want {
			t.Errorf("parseIdle(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}

func FuzzParseIdle(f *testing.F) {
	f.Add("cpu  10 20 30 400 50 0 0 0 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := parseIdle(text); got < -1 {
			t.Errorf("parseIdle(%q) = %v", text, got)
		}
	})
}
