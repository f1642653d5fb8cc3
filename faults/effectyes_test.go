package faults

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestEffectAsTold: effect=yes and effect=no are obeyed by every fault that can
// tell a request, with its parameters as they are and with others.
func TestEffectAsTold(t *testing.T) {
	t.Parallel()
	texts := []string{
		"reset:at=head", "reset:at=body:10", "reset:at=chunk", "truncate:at=head", "informational:count=2,every=1ms",
		"slow-read:bytes=100,every=1ms", "status:status=204", "lost-response:then=hang",
	}
	for _, name := range Names() {
		if s := spec(t, name); s.Level() == LevelRequest && name != "rate-limit" && name != "overload" {
			texts = append(texts, name)
		}
	}
	for _, text := range texts {
		for _, effect := range []string{"yes", "no"} {
			t.Run(text+" "+effect, func(t *testing.T) {
				t.Parallel()
				sep := ":"
				if strings.Contains(text, ":") {
					sep = ","
				}
				p, l := start(t, text+sep+"effect="+effect)
				nc := dial(t, l)
				send(t, nc, "POST / HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\nContent-Length: 10\r\n\r\n0123456789")
				_ = nc.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
				br := bufio.NewReader(nc)
				if r, err := http.ReadResponse(br, nil); err == nil && effect == "no" {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				want := map[string]uint64{"yes": 1, "no": 0}[effect]
				if effect == "yes" {
					waitFor(t, "the effect", func() bool { return p.Effects()[0].Effects == want })
					return
				}
				if got := p.Effects()[0].Effects; got != want {
					t.Errorf("effects: got %d, want %d", got, want)
				}
			})
		}
	}
}

// TestEffectRefused: what cannot be obeyed is not taken.
func TestEffectRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"refused:effect=yes":         "no request is ever read",
		"reset:at=accept,effect=yes": "no request is ever read",
		"rate-limit:effect=yes":      "over the limit",
		"overload:effect=yes":        "over the limit",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): got %v, want an error with %q", text, err, want)
		}
	}
}
