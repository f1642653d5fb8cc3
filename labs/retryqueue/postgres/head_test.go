package postgres

import (
	"testing"

	"chaoslab/labs/retryqueue"
)

// A claim looks from where the last one found a job, but from the beginning when
// anything may have come before that.
func TestHead(t *testing.T) {
	at := place{500, 7}
	for _, c := range []struct {
		name string
		do   func(*head)
		now  retryqueue.Millis
		want place
	}{
		{"nothing found yet", func(*head) {}, 1001, place{}},
		{"found", func(h *head) { h.find(1000, at) }, 1001, at},
		{"found twice", func(h *head) { h.find(1000, place{400, 1}); h.find(1010, at) }, 1020, at},
		{"fewer found than asked for", func(h *head) { h.find(1000, at); h.find(1010, place{}) }, 1020, place{}},
		{"just before the time is up", func(h *head) { h.find(1000, at) }, 1249, at},
		{"time is up", func(h *head) { h.find(1000, at) }, 1250, place{}},
		{"the time does not begin anew with each claim", func(h *head) { h.find(1000, at); h.find(1240, at) }, 1250, place{}},
		{"the clock goes back", func(h *head) { h.find(1000, at) }, 999, place{}},
		{"a job behind", func(h *head) { h.find(1000, at); h.put(501) }, 1001, at},
		{"a job in the same millisecond", func(h *head) { h.find(1000, at); h.put(600, 500) }, 1001, place{}},
		{"nothing put", func(h *head) { h.find(1000, at); h.put() }, 1001, at},
		{"a job comes while the claim looks", func(h *head) {
			_, moves := h.look(1000)
			h.put(400)
			h.found(at, moves)
		}, 1001, place{}},
	} {
		h := &head{}
		c.do(h)
		if got, _ := h.look(c.now); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func (h *head) find(now retryqueue.Millis, p place) {
	_, moves := h.look(now)
	h.found(p, moves)
}
