package budgetcaller

import (
	"bytes"
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// A RST while the request is still being sent reaches reader or writer, whoever
// the kernel tells first. Either way it is a reset, and a body without a length
// that it cuts is never whole.
func TestBugResetWhileSending(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"in the head":                  "HTTP/1.1 200 OK\r\nX: ",
		"in a declared length":         half(),
		"in a close-delimited body":    "HTTP/1.1 200 OK\r\n\r\nhello",
		"before the answer":            "",
		"in a chunked body":            chunkedHead + "5\r\nhello\r\n",
		"with a word that is no HTTP ": "hello",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) {
				if p.requestHead() != nil {
					p.send(said)
					time.Sleep(5 * ms) // the client waits in both directions
					p.reset()
				}
			})
			c := newCaller(t, Config{})
			count := map[Class]int{}
			for range 50 {
				req := newRequest(t, "POST", w.url("/"), bytes.NewReader(make([]byte, 16<<20)))
				count[once(t, c, 10*time.Second, req).Class]++
			}
			if count[ClassReset] != 50 {
				t.Errorf("got %v, want 50 times reset", count)
			}
		})
	}
}

// What the partner puts into Location is never an error of the user's: a
// redirect that cannot be made is simply not followed.
func TestBugRedirectToNowhere(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"http://127.0.0.1:0/", "http://127.0.0.1:99999/", "http://:80/"} {
		w := serve(t, func(p *peer) {
			p.answers("HTTP/1.1 302 X\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n")
		})
		res, err := run(t, newCaller(t, Config{Redirects: 3}), 5*time.Second, get(t, w.url("/")), nil)
		if err != nil || len(res.Attempts) != 1 || res.Last().Status != 302 {
			t.Errorf("Location %s: error %v, %d attempts; want the 302 as the answer", location, err, len(res.Attempts))
		}
	}
}

// A status below 100 is no status (RFC 9110, section 15), and not a 1xx.
func TestBugStatusBelow100(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) {
		p.request()
		p.send("HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n")
		p.hold()
	})
	rec := once(t, newCaller(t, Config{Limits: Limits{Read: 200 * ms}}), 5*time.Second, get(t, w.url("/")))
	if rec.Class != ClassMalformed {
		t.Errorf("%v (%v), want malformed", rec.Class, rec.Err)
	}
}

// The read limit bounds a partner that takes no byte of a long head as well,
// not only of a body: 8 MB of headers are more than the system's buffers hold.
func TestBugLongHeadNotTaken(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) {
		if p.request() != nil { // the first request is a short one
			p.send(answer(""))
			<-t.Context().Done()
		}
	})
	c := newCaller(t, Config{Limits: Limits{Read: 300 * ms}})
	once(t, c, 5*time.Second, get(t, w.url("/")))
	req := get(t, w.url("/"))
	for i := range 32 {
		req.Header.Set("X-"+itoa(i), strings.Repeat("x", 1<<20))
	}
	rec := once(t, c, 4*time.Second, req)
	want{
		class: ClassRequestTimeout, limit: LimitRead, phases: in(PhaseRequest), effects: unknown(),
		expected: -1, least: 300 * ms,
	}.check(t, rec)
}

// A verdict that comes while a request is being taken back still gives the
// place in the pool back.
func TestBugRetractLosesPlace(t *testing.T) {
	t.Parallel()
	c, w, _ := deadPair(t, Config{})
	req := get(t, w.url("/"))
	ctx, cancel, err := Begin(t.Context(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	made := &try{req: req, limits: c.other.Limits}
	if err := c.prepare(ctx, made, false); err != nil {
		t.Fatal(err)
	}
	a := c.begin(ctx, made)
	conn, rec := a.open()
	if rec != nil {
		t.Fatalf("%+v", rec)
	}
	a.rec.Nth, a.rec.Local, a.rec.Remote = conn.nth, conn.local, conn.remote
	a.enter(PhaseRequest)
	if err := a.write(conn, req); err == nil {
		t.Fatal("a dead connection took the request")
	}
	// The watchdog has decided and not yet cut: rule does the one after the other.
	a.verdict.decide(ClassBudgetExhausted, LimitBudget)
	if a.retract(conn) {
		t.Fatal("taken back after the verdict")
	}
	a.finish(ClassReset, LimitNone, nil)
	if open, _, _ := slots(c); open != 0 {
		t.Errorf("%d places are lost", open)
	}
}

// After a request was taken back and no new connection came, the record has no
// connection: not the dead one's address.
func TestBugRetractKeepsAddress(t *testing.T) {
	t.Parallel()
	die := make(chan struct{})
	w := serve(t, func(p *peer) {
		p.request()
		p.send(answer("hi"))
		<-die
		p.reset()
	})
	broken := false
	c := newCaller(t, Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		if broken {
			return nil, errUser
		}
		return []netip.Addr{loopback4()}, nil
	}})
	url := strings.Replace(w.url("/"), "127.0.0.1", "name.test", 1)
	once(t, c, 5*time.Second, get(t, url))
	close(die)
	waitDead(t, c)
	for _, h := range c.pool.hosts {
		for _, idle := range h.idle {
			idle.raw = nil
		}
	}
	broken = true
	rec := once(t, c, 5*time.Second, get(t, url))
	if rec.Class != ClassLookupFailed || rec.Nth != 0 || rec.Local.IsValid() || rec.Remote.IsValid() {
		t.Errorf("%v, request %d from %v to %v; want lookup_failed and no connection", rec.Class, rec.Nth, rec.Local, rec.Remote)
	}
}
