package faults

import (
	"context"
	"testing"
	"time"
)

// TestEachListenerHasItsPlaces: a listener full of connections that hang takes
// from the others neither their own places nor more than there are.
func TestEachListenerHasItsPlaces(t *testing.T) {
	t.Parallel()
	const most, own = 80, 5 // an eighth of 80 for two
	p, err := Start(Config{MaxConns: most, Listeners: []ListenerConfig{
		{Name: "hangs", Faults: []Spec{spec(t, "read-timeout")}}, {Name: "other"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(context.Background()) })
	open := func(i, tries int, want int64) {
		t.Helper()
		for range tries {
			dial(t, p.Listeners()[i])
		}
		s := p.Stats()[i]
		for until := time.Now().Add(5 * time.Second); (s.Open != want || s.Accepted != uint64(tries)) && time.Now().Before(until); s = p.Stats()[i] {
			time.Sleep(5 * time.Millisecond)
		}
		if s.Open != want || s.Accepted != uint64(tries) {
			t.Errorf("%s: %d open of %d tried, want %d", s.Listener, s.Open, s.Accepted, want)
		}
	}
	open(0, most+20, most-own)
	open(1, 2*own, own)
	for _, c := range p.all(nil) {
		if c.l.name == "hangs" {
			c.close(closed, false)
			c.close(closed, false) // once more changes nothing
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beyond != 0 || p.listeners[0].holds != 0 || p.listeners[1].holds != own {
		t.Errorf("after that: %d beyond, %d and %d held, want 0, 0 and %d", p.beyond, p.listeners[0].holds, p.listeners[1].holds, own)
	}
}
