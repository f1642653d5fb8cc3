package deadline_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chaoslab/budgetcaller/deadline"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values []string
		want   int64
		read   deadline.Reading
	}{
		{"none", nil, 0, deadline.Absent},
		{"no value in the slice", []string{}, 0, deadline.Absent},
		{"plain", []string{"250"}, 250, deadline.Read},
		{"zero", []string{"0"}, 0, deadline.Read},
		{"minus zero", []string{"-0"}, 0, deadline.Read},
		{"negative", []string{"-5"}, -5, deadline.Read},
		{"leading zeros", []string{"007"}, 7, deadline.Read},
		{"blanks around it", []string{" 250\t"}, 250, deadline.Read},
		{"15 digits", []string{"999999999999999"}, 999999999999999, deadline.Read},
		{"16 digits", []string{"1000000000000000"}, 0, deadline.Absurd},
		{"20 digits", []string{"12345678901234567890"}, 0, deadline.Absurd},
		{"20 digits of zero", []string{strings.Repeat("0", 20)}, 0, deadline.Absurd},
		{"20 negative digits", []string{"-12345678901234567890"}, 0, deadline.Absurd},
		{"the least int64", []string{"-9223372036854775808"}, 0, deadline.Absurd},
		{"a megabyte of digits", []string{strings.Repeat("9", 1<<20)}, 0, deadline.Absurd},
		{"empty", []string{""}, 0, deadline.Malformed},
		{"only blanks", []string{"  "}, 0, deadline.Malformed},
		{"word", []string{"abc"}, 0, deadline.Malformed},
		{"exponent", []string{"1e9"}, 0, deadline.Malformed},
		{"fraction", []string{"250.5"}, 0, deadline.Malformed},
		{"unit", []string{"250ms"}, 0, deadline.Malformed},
		{"plus", []string{"+250"}, 0, deadline.Malformed},
		{"only minus", []string{"-"}, 0, deadline.Malformed},
		{"two minus", []string{"--5"}, 0, deadline.Malformed},
		{"blank after the minus", []string{"- 5"}, 0, deadline.Malformed},
		{"hexadecimal", []string{"0x10"}, 0, deadline.Malformed},
		{"underscore", []string{"1_000"}, 0, deadline.Malformed},
		{"comma list", []string{"250, 250"}, 0, deadline.Malformed},
		{"other digits", []string{"\u0662\u0665"}, 0, deadline.Malformed},
		{"NaN", []string{"NaN"}, 0, deadline.Malformed},
		{"letter after 20 digits", []string{"12345678901234567890x"}, 0, deadline.Malformed},
		{"twice the same", []string{"250", "250"}, 0, deadline.Doubled},
		{"twice, one is empty", []string{"", "250"}, 0, deadline.Doubled},
	} {
		if got, read := deadline.Parse(c.values); got != c.want || read != c.read {
			t.Errorf("%s: Parse(%.40q) = %d, %v, want %d, %v", c.name, c.values, got, read, c.want, c.read)
		}
	}
}

// FuzzParse compares with a second reading of the same rule.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"250", "86400000", "0", "-5", "abc", "1e9", "", "12345678901234567890", " 1 ", "-", "+1"} {
		f.Add(s)
	}
	number := regexp.MustCompile(`^[ \t]*(-?[0-9]+)[ \t]*$`)
	f.Fuzz(func(t *testing.T, s string) {
		var want int64
		reading := deadline.Malformed
		if m := number.FindStringSubmatch(s); m != nil {
			reading = deadline.Absurd
			if len(strings.TrimPrefix(m[1], "-")) <= 15 {
				reading = deadline.Read
				want, _ = strconv.ParseInt(m[1], 10, 64)
			}
		}
		if got, r := deadline.Parse([]string{s}); got != want || r != reading {
			t.Errorf("Parse(%q) = %d, %v, want %d, %v", s, got, r, want, reading)
		}
	})
}
