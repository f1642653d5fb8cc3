package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMillis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   time.Duration
		want string
	}{
		{0, "0"},
		{500*time.Millisecond + 713*time.Microsecond, "500.713"},
		{500700 * time.Microsecond, "500.7"},
		{1499 * time.Nanosecond, "0.001"},
		{30 * time.Second, "30000"},
		{366 * 24 * time.Hour, "31622400000"},
		{-200 * time.Microsecond, "-0.2"},
	} {
		got, err := json.Marshal(Millis(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("Millis(%v) = %s, %v; want %s", c.in, got, err, c.want)
		}
		var back Millis
		if err := json.Unmarshal(got, &back); err != nil || (time.Duration(back)-c.in).Abs() >= time.Microsecond {
			t.Errorf("%s read back = %v, %v; want %v", got, time.Duration(back), err, c.in)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in          time.Duration
		show, limit string
	}{
		{0, "0.0 ms", "0 ms"},
		{300 * time.Millisecond, "300.0 ms", "300 ms"},
		{2 * time.Second, "2000.0 ms", "2 s"},
		{1500 * time.Millisecond, "1500.0 ms", "1500 ms"},
		{500713 * time.Microsecond, "500.7 ms", "500.7 ms"},
		{400 * time.Microsecond, "0.4 ms", "0.4 ms"},
		{9999 * time.Millisecond, "9999.0 ms", "9999 ms"},
		{10 * time.Second, "10.00 s", "10 s"},
		{30500 * time.Millisecond, "30.50 s", "30.50 s"},
		{time.Hour, "3600.00 s", "3600 s"},
	} {
		if got := Show(c.in); got != c.show {
			t.Errorf("Show(%v) = %q, want %q", c.in, got, c.show)
		}
		if got := ShowLimit(c.in); got != c.limit {
			t.Errorf("ShowLimit(%v) = %q, want %q", c.in, got, c.limit)
		}
	}
	if got := ShowLimit(None); got != "none" {
		t.Errorf("ShowLimit(None) = %q, want none", got)
	}
}

func TestFormatFlag(t *testing.T) {
	t.Parallel()
	f := Format("table", "json")
	if f.String() != "table" || f.Type() != "table|json" {
		t.Errorf("default %q of type %q, want table of table|json", f.String(), f.Type())
	}
	if err := f.Set("json"); err != nil || f.Value != "json" {
		t.Errorf("Set(json) = %v, %q; want json", err, f.Value)
	}
	if err := f.Set("xml"); err == nil || err.Error() != `"xml" is none of table, json` {
		t.Errorf("Set(xml) = %v, want an error that lists the formats", err)
	}
	if f.Value != "json" {
		t.Errorf("a refused value changed the flag to %q", f.Value)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"ok", "refused", "read_timeout", "request_timeout", "connect_timeout"}
	for in, want := range map[string]string{
		"refusd":          "refused",
		"read-timeout":    "read_timeout",
		"connect":         "connect_timeout",
		"conect_timeout":  "connect_timeout",
		"zebra":           "",
		"":                "",
		"OK":              "ok",
		"ol":              "ok",
		"foo":             "",
		"READ_TIMEOUT":    "read_timeout",
		"request_timeout": "request_timeout",
	} {
		if got := Nearest(in, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table := NewTable(&out, "class", "limit\nconfigured", "n")
	table.AppendRow([]any{"refused", "none\n-", 1})
	table.AppendRow([]any{"read_timeout\nin first_byte", "read\n500 ms", 12})
	table.Render()
	want := `class          limit        n
               configured
-----------------------------
refused        none         1
               -
read_timeout   read        12
in first_byte  500 ms
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestProgressIsQuietOnAPipe(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := NewProgress(&out, 3, "measuring")
	p.Add(3)
	p.Close()
	p.Close()
	if out.Len() > 0 {
		t.Errorf("wrote %q to a pipe, want nothing", out.String())
	}
}

// The time is told from when the work began, not from when the bar was first drawn:
// nothing would be left then, however little is finished.
func TestProgressTellsTheTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		total int
		bar   string
	}{
		{"so many", 100, `^purging .* \(10/100\) \[[1-9]\d*s:(9|\d\d+)s\]$`},
		{"nobody knows how many", -1, `^. purging \(10/-\) \[[1-9]\d*s\]$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p := draw(&out, c.total, "purging")
			p.Add(10)
			time.Sleep(progressAfter + 3*progressEvery)
			p.Close() // it draws no more
			drawn := 0
			for text := range strings.SplitSeq(out.String(), "\r") {
				if text = strings.TrimSpace(text); !strings.Contains(text, "purging") {
					continue
				}
				if drawn++; !regexp.MustCompile(c.bar).MatchString(text) {
					t.Errorf("drew %q, want %s", text, c.bar)
				}
			}
			if drawn == 0 || !strings.HasSuffix(out.String(), "\r\x1b[K") {
				t.Errorf("drew %q, want a bar that is taken away at the end", out.String())
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 10, ""},
		{"one two", 7, "one two"},
		{"one two", 6, "one\ntwo"},
		{"  one   two ", 20, "one two"},
		{"overlong word", 4, "overlong\nword"},
		{"a b\nc d", 3, "a b\nc d"},
		{"äöü äöü", 7, "äöü äöü"},
	} {
		if got := Wrap(c.in, c.width); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
	long := strings.Repeat("b", 72)
	if got, want := Paragraph("head  ", "a "+long+" c"), "head  a "+long+"\n      c"; got != want {
		t.Errorf("Paragraph = %q, want %q", got, want)
	}
}
