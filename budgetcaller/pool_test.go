package budgetcaller

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// slots returns how many places of the pool are taken, how many of them by idle
// connections, and how many attempts wait.
func slots(c *Caller) (open, idle, waiting int) {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	for _, h := range c.pool.hosts {
		open, idle, waiting = open+h.open, idle+len(h.idle), waiting+len(h.waiters)
	}
	return open, idle, waiting
}

// TestPoolWait: the one place is taken, and a limit ends the wait for it.
func TestPoolWait(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) { p.answers(answer("hi")) })
	for _, tt := range []struct {
		name   string
		limits Limits
		budget time.Duration
		cancel time.Duration
		class  Class
		limit  Limit
		least  time.Duration
	}{
		{"pool limit", Limits{Pool: 150 * ms}, 5 * time.Second, 0, ClassPoolTimeout, LimitPool, 150 * ms},
		{"budget", Limits{}, 150 * ms, 0, ClassBudgetExhausted, LimitBudget, 149 * ms},
		{"budget ties with pool", Limits{Pool: 150 * ms}, 150 * ms, 0, ClassBudgetExhausted, LimitBudget, 149 * ms},
		{"attempt", Limits{Attempt: 150 * ms}, 5 * time.Second, 0, ClassAttemptTimeout, LimitAttempt, 150 * ms},
		{"no other limit counts here", Limits{Read: 50 * ms, Connect: 50 * ms, Pool: 150 * ms}, 5 * time.Second, 0, ClassPoolTimeout, LimitPool, 150 * ms},
		{"cancel", Limits{}, 5 * time.Second, 100 * ms, ClassCanceled, LimitNone, 100 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCaller(t, Config{MaxConnsPerHost: 1, Limits: tt.limits})
			r, err := c.routeOf(get(t, w.url("/")))
			if err != nil {
				t.Fatal(err)
			}
			h, _, _, _ := c.pool.get(r) // the one place
			began := time.Now()
			ctx, cancel, err := Begin(t.Context(), tt.budget)
			if err != nil {
				t.Fatal(err)
			}
			defer cancel()
			if tt.cancel > 0 {
				var stop context.CancelFunc
				ctx, stop = context.WithCancel(ctx)
				time.AfterFunc(tt.cancel, stop)
			}
			res, err := runIn(ctx, t, c, tt.budget, get(t, w.url("/")), nil)
			if err != nil {
				t.Fatal(err)
			}
			rec := res.Last()
			want{class: tt.class, limit: tt.limit, phases: in(PhasePool), effects: none(), expected: -1, least: tt.least - ms}.check(t, rec)
			least := tt.least
			if tt.limit == LimitBudget {
				least -= 20*ms + machine.Room(began) // it counts what comes before the pool too
			}
			if took, reached := rec.Phases.Took(PhasePool); !reached || took < least-ms {
				t.Errorf("waited %v (reached: %v), want %v", took, reached, least)
			}
			if open, _, waiting := slots(c); open != 1 || waiting != 0 {
				t.Errorf("%d places taken, %d waiting; want 1 and 0", open, waiting)
			}
			h.drop()
			if rec := once(t, c, 5*time.Second, get(t, w.url("/"))); rec.Class != ClassOK {
				t.Errorf("afterwards: %v (%v), want ok", rec.Class, rec.Err)
			}
		})
	}
}

// Never more connections than allowed, nobody starves, and each connection
// carries one request at a time.
func TestPoolUnderLoad(t *testing.T) {
	t.Parallel()
	const most, calls = 3, 60
	var now, peak, together atomic.Int64
	w := serve(t, func(p *peer) {
		peak.Store(max(peak.Load(), now.Add(1)))
		defer now.Add(-1)
		for p.request() != nil {
			if p.br.Buffered() > 0 {
				together.Add(1)
			}
			time.Sleep(5 * ms)
			p.send(answer("hi"))
		}
	})
	c := newCaller(t, Config{MaxConnsPerHost: most})
	var wg sync.WaitGroup
	var waited atomic.Int64
	for range calls {
		wg.Go(func() {
			rec := once(t, c, 20*time.Second, get(t, w.url("/")))
			if rec.Class != ClassOK {
				t.Errorf("%v in %v (%v), want ok", rec.Class, rec.Phase, rec.Err)
			}
			if took, _ := rec.Phases.Took(PhasePool); took > ms {
				waited.Add(1)
			}
		})
	}
	wg.Wait()
	if peak.Load() > most || w.conns.Load() > most || together.Load() > 0 {
		t.Errorf("%d connections at once, %d in all, %d requests sent together; want at most %d", peak.Load(), w.conns.Load(), together.Load(), most)
	}
	if w.requests.Load() != calls || waited.Load() == 0 {
		t.Errorf("%d requests for %d calls, %d of them waited", w.requests.Load(), calls, waited.Load())
	}
	if open, idle, waiting := slots(c); open != idle || open > most || waiting != 0 {
		t.Errorf("%d places taken, %d idle, %d waiting", open, idle, waiting)
	}
}

// Whatever ends an attempt, its place in the pool comes free again.
func TestPoolPlacesComeBack(t *testing.T) {
	t.Parallel()
	cert, _ := authority(t)
	w := serve(t, func(p *peer) {
		for req := p.requestHead(); req != nil; req = p.requestHead() {
			switch req.URL.Path {
			case "/ok":
				_, _ = io.Copy(io.Discard, req.Body)
				p.send(answer("hi"))
			case "/half":
				p.send(half())
				p.hold()
			case "/reset":
				p.reset()
				return
			case "/garbage":
				p.send("hello\r\n")
				p.hold()
			case "/early":
				p.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")
				p.hold()
			default:
				p.hold()
			}
		}
	})
	silent := serve(t, (*peer).hold)
	https := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) { p.answers(answer("hi")) })
	proxy := serve(t, func(p *peer) { p.answers("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") })
	through, err := url.Parse(proxy.url(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		cfg  Config
		url  string
		body func(string) *stuck
		sink io.Writer
		stop time.Duration
		want Class
	}{
		{name: "ok", url: w.url("/ok"), want: ClassOK},
		{name: "budget", url: w.url("/silent"), want: ClassBudgetExhausted},
		{name: "canceled", url: w.url("/silent"), stop: 20 * ms, want: ClassCanceled},
		{name: "canceled at once", url: w.url("/silent"), stop: time.Microsecond, want: ClassCanceled},
		{name: "cut in the body", url: w.url("/half"), want: ClassBudgetExhausted},
		{name: "left unread", url: w.url("/half"), sink: writerFunc(func([]byte) (int, error) { return 0, errUser }), want: ClassCanceled},
		{name: "reset", url: w.url("/reset"), want: ClassReset},
		{name: "malformed", url: w.url("/garbage"), want: ClassMalformed},
		{name: "early answer", url: w.url("/early"), body: newStuck, want: ClassOK},
		{name: "body blocks", url: w.url("/silent"), body: newStuck, want: ClassBudgetExhausted},
		{name: "refused", url: "http://127.0.0.1:" + refusedPort(t), want: ClassRefused},
		{name: "lookup failed", cfg: Config{Lookup: lookup(errUser)}, url: "http://nowhere.test/", want: ClassLookupFailed},
		{name: "tls failed", url: https.url("/"), want: ClassTLSFailed},
		{name: "tls timeout", cfg: Config{Limits: Limits{Connect: 50 * ms}}, url: "https://" + silent.host, want: ClassTLSTimeout},
		{name: "tunnel refused", cfg: Config{Proxy: func(*url.URL) (*url.URL, error) { return through, nil }}, url: "https://name.test/", want: ClassUnreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.MaxConnsPerHost = 1
			if tt.cfg.Limits.Connect == 0 {
				tt.cfg.Limits.Connect = time.Second
			}
			tt.cfg.Limits.Pool = time.Second // a place that does not come back shows
			budget := 5 * time.Second
			if tt.want == ClassBudgetExhausted {
				budget = 150 * ms
			}
			calls := func() error {
				c := newCaller(t, tt.cfg)
				for i := range 5 {
					ctx, cancel, err := Begin(t.Context(), budget)
					if err != nil {
						return err
					}
					var stop context.CancelFunc = func() {}
					if tt.stop > 0 {
						ctx, stop = context.WithCancel(ctx)
						time.AfterFunc(tt.stop, stop)
					}
					req := newRequest(t, "POST", tt.url, strings.NewReader("hello"))
					if tt.body != nil && i == 0 {
						req.Body, req.ContentLength = tt.body("hello"), 1<<20
					}
					res, _ := runIn(ctx, t, c, budget, req, tt.sink)
					stop()
					cancel()
					if rec := res.Last(); rec.Class != tt.want {
						return fmt.Errorf("call %d: %v in %v (%v), want %v", i+1, rec.Class, rec.Phase, rec.Err, tt.want)
					}
				}
				if open, idle, waiting := slots(c); open != idle || waiting != 0 {
					return fmt.Errorf("%d places taken, %d idle, %d waiting: places are lost", open, idle, waiting)
				}
				c.Close()
				if open, _, _ := slots(c); open != 0 || len(c.pool.hosts) != 0 {
					return fmt.Errorf("after Close: %d places taken, %d hosts", open, len(c.pool.hosts))
				}
				return nil
			}
			if err := machine.Again(tt.cfg.Limits.Connect/2, calls); err != nil {
				t.Error(err)
			}
		})
	}
}

// A closed Caller refuses, with an error of its own.
func TestClosedCaller(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	c.Close()
	c.Close() // twice is as good as once
	body := &userBody{Reader: strings.NewReader("hello")}
	res, err := run(t, c, time.Second, post(t, "http://127.0.0.1:9/", body, 5), nil)
	if err != ErrClosed || len(res.Attempts) != 0 || body.closed.Load() == 0 {
		t.Errorf("error %v, %d attempts, body closed %d times; want ErrClosed, none and once", err, len(res.Attempts), body.closed.Load())
	}
}
