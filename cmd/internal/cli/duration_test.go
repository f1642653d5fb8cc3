package cli

import (
	"strings"
	"testing"
	"time"
)

func TestC6DurationsThatBite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want time.Duration
		err  string // part of the error, empty if there is none
	}{
		{"300ms", 300 * time.Millisecond, ""},
		{"1.5s", 1500 * time.Millisecond, ""},
		{"1m30s", 90 * time.Second, ""},
		{"400us", 400 * time.Microsecond, ""},
		{"8784h", 8784 * time.Hour, ""},
		{"5", 0, `"5" has no unit: write 5ms or 5s`},
		{"600", 0, "write 600ms or 600s"},
		{"1.5", 0, "has no unit"},
		{"-1s", 0, "is negative"},
		{"-1", 0, "is negative"},
		{"0", 0, "a duration is above zero"},
		{"0s", 0, "a duration is above zero"},
		{"0.0000000001s", 0, "a duration is above zero"},
		{"", 0, "empty"},
		{"abc", 0, "is not a duration"},
		{"none", 0, "is not a duration"},
		{"1 s", 0, "is not a duration"},
		{"NaN", 0, "is not a duration"},
		{"8785h", 0, "is too long"},
		{"3000000h", 0, "is too long"},
		{"99999999999999999999s", 0, "is too long"},
	} {
		got, err := ParseDuration(c.in)
		switch {
		case err == nil && (c.err != "" || got != c.want):
			t.Errorf("ParseDuration(%q) = %v, want %v, error %q", c.in, got, c.want, c.err)
		case err != nil && (c.err == "" || !strings.Contains(err.Error(), c.err)):
			t.Errorf("ParseDuration(%q): error %q, want %q", c.in, err, c.err)
		}
	}
}

func TestDurationFlag(t *testing.T) {
	t.Parallel()
	d := Duration{D: time.Second}
	if got := d.String(); got != "1s" {
		t.Errorf("default prints as %q, want 1s", got)
	}
	if err := d.Set("none"); err == nil {
		t.Error("Set(none) was taken without AllowNone, want an error")
	}
	if d.IsSet || d.D != time.Second {
		t.Errorf("a refused value changed the flag to %+v", d)
	}
	d.AllowNone = true
	if err := d.Set("none"); err != nil || d.D != None || !d.IsSet || d.String() != "none" {
		t.Errorf("Set(none) = %v, %+v; want None, set", err, d)
	}
	if err := d.Set("0"); err == nil || !strings.Contains(err.Error(), "write none") {
		t.Errorf("Set(0) = %v, want a hint at none", err)
	}
	if err := d.Set("2s"); err != nil || d.D != 2*time.Second {
		t.Errorf("Set(2s) = %v, %+v; want 2s", err, d)
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"300ms", "5", "-1s", "0", "", "3000000h", "1e9", "9223372036854775807ns", ".", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err == nil && (d <= 0 || d > MaxDuration) {
			t.Errorf("ParseDuration(%q) = %v, want it above 0 and at most %v", s, d, MaxDuration)
		}
		if err != nil && d != 0 {
			t.Errorf("ParseDuration(%q) = %v beside error %v, want 0", s, d, err)
		}
	})
}
