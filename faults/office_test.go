package faults

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// A service that turns slow, or well again, keeps those who wait for it.
func TestOverloadQueueOutlivesAChange(t *testing.T) {
	t.Parallel()
	p, l := start(t, "overload:workers=1,queue=3,work=300ms")
	var conns []net.Conn
	for range 4 { // one is worked on, three wait
		conns = append(conns, request(t, l, ""))
	}
	arrived(t, p, 4)
	began := time.Now()
	spec, err := Parse("overload:workers=3,queue=1,work=100ms,retry-after=none")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Set(l.Name, []Spec{spec}, 0); err != nil {
		t.Fatal(err)
	}
	// Two of the three have a worker now, the third has the one place.
	if r := statusOn(t, request(t, l, "")); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: got status %d, want 503, since those who waited still do", r.StatusCode)
	}
	for i, nc := range conns {
		if r := statusOn(t, nc); r.StatusCode != http.StatusOK {
			t.Errorf("request %d: got status %d, want 200", i, r.StatusCode)
		}
	}
	// The first goes on as it began; the others take what there is to do now.
	within(t, "all of them", time.Since(began), 200*time.Millisecond, 300*time.Millisecond)
}

func TestLineChange(t *testing.T) {
	t.Parallel()
	l := newLine(2, 1, Fixed(0))
	a, _ := l.enter(false)
	b, _ := l.enter(false)
	c, _ := l.enter(false)
	if _, ok := l.enter(false); ok {
		t.Fatal("a fourth got in: 2 workers, 1 place")
	}
	l.change(1, 1, Fixed(0))
	l.leave(a)
	if c.served {
		t.Error("the worker that was to go took another request")
	}
	l.leave(b)
	if !c.served {
		t.Error("the worker that stays did not take the next")
	}
	d, _ := l.enter(false)
	l.change(2, 1, Fixed(time.Second))
	if !d.served {
		t.Error("the new worker did not take who waited")
	}
	if got := l.workNow().String(); got != "1s" {
		t.Errorf("the work is %s, want 1s", got)
	}
	l.leave(c)
	l.leave(d)
	if l.free != 2 {
		t.Errorf("%d workers are free in the end, want 2", l.free)
	}
}
