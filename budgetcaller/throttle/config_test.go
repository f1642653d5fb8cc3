package throttle

import (
	"math"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		cfg, want Config
		err       string
	}{
		{"defaults", Config{}, Config{0.1, 10, 10 * time.Second}, ""},
		{"all set", Config{1, 0.5, time.Hour}, Config{1, 0.5, time.Hour}, ""},
		{"no share", Config{Share: None}, Config{None, 10, 10 * time.Second}, ""},
		{"no reserve", Config{MinPerSecond: None}, Config{0.1, None, 10 * time.Second}, ""},
		{"neither", Config{None, None, 0}, Config{}, "throttle: Share and MinPerSecond are both None: no retry would ever be allowed"},
		{"percent for a share", Config{Share: 10}, Config{}, "throttle: Share: 10 is out of range: above 0 and up to 1, or None"},
		{"negative share", Config{Share: -0.1}, Config{}, "throttle: Share: -0.1 is out of range: above 0 and up to 1, or None"},
		{"NaN", Config{Share: math.NaN()}, Config{}, "throttle: Share: NaN is out of range: above 0 and up to 1, or None"},
		{"infinite reserve", Config{MinPerSecond: math.Inf(1)}, Config{}, "throttle: MinPerSecond: +Inf is out of range: above 0 and up to 1e+06, or None"},
		{"negative reserve", Config{MinPerSecond: -2}, Config{}, "throttle: MinPerSecond: -2 is out of range: above 0 and up to 1e+06, or None"},
		{"short window", Config{Window: time.Second - 1}, Config{}, "throttle: Window: 999.999999ms is out of range: from 1s to 1h0m0s"},
		{"long window", Config{Window: time.Hour + 1}, Config{}, "throttle: Window: 1h0m0.000000001s is out of range: from 1s to 1h0m0s"},
		{"negative window", Config{Window: -1}, Config{}, "throttle: Window: -1ns is out of range: from 1s to 1h0m0s"},
	} {
		th, err := New(c.cfg)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != c.err || th.Config() != c.want {
			t.Errorf("%s: New(%+v) = %+v, %q, want %+v, %q", c.name, c.cfg, th.Config(), text, c.want, c.err)
		}
	}
}
