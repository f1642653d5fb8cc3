package chainhop

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// Whatever is written, what is called is on loopback.
func FuzzNext(f *testing.F) {
	for _, s := range []string{
		"none", "http://127.0.0.1:8080/", "http://[::1]:1/a?b=c", "http://localhost", "http://127.0.0.1@example.com/",
		"http://127.1/", "http://[::ffff:127.0.0.1]:1/", "http://2130706433/", "//127.0.0.1", "http://127.0.0.1:99999/", "http://[::1%25lo]:1/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := parseNext(s)
		if err != nil || u == nil {
			return
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if u.Scheme != "http" || u.User != nil || u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
			t.Errorf("parseNext(%q) = %v", s, u)
		}
	})
}

// Whatever the header, a request with the hop's own mark is refused, and one
// without it is not unless it has come through too many.
func FuzzCircle(f *testing.F) {
	h := newHop(config{workers: 1})
	f.Add("", "")
	f.Add("a b", "c")
	f.Add(strings.Repeat("x ", maxMarks), "")
	f.Fuzz(func(t *testing.T, first, second string) {
		marks := strings.Fields(first + " " + second)
		if why := h.circle(http.Header{HeaderHops: {first, second}}); (why != "") != (len(marks) >= maxMarks) && !strings.Contains(first+second, h.mark) {
			t.Errorf("circle(%q, %q) = %q", first, second, why)
		}
		if why := h.circle(http.Header{HeaderHops: {first, h.mark, second}}); why == "" {
			t.Errorf("circle(%q, its mark, %q) lets it through", first, second)
		}
	})
}
