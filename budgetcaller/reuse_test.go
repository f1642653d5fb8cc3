package budgetcaller

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// kinds are requests that net/http would treat differently when a used
// connection dies: it resends the first and the last unseen.
func kinds() []struct {
	name, method string
	key          bool
} {
	return []struct {
		name, method string
		key          bool
	}{{"GET", "GET", false}, {"POST", "POST", false}, {"POST with Idempotency-Key", "POST", true}}
}

func kindOf(t testing.TB, method string, key bool, url, id string) *http.Request {
	t.Helper()
	req := newRequest(t, method, url, nil)
	if method == "POST" {
		req = newRequest(t, method, url, strings.NewReader("hello"))
	}
	if key {
		req.Header.Set("Idempotency-Key", id)
	}
	req.Header.Set("X-Id", id)
	return req
}

// F7: the partner processes a request on a used connection and closes without
// an answer. That is one attempt and stays one.
func TestF7NoHiddenResend(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds() {
		for name, end := range map[string]then{"closes": thenFin, "resets": thenReset} {
			t.Run(kind.name+", "+name, func(t *testing.T) {
				t.Parallel()
				w := serve(t, func(p *peer) {
					if p.request() != nil {
						p.send(answer(""))
					}
					if p.request() != nil {
						end(p)
					}
				})
				c := newCaller(t, Config{})
				reused := 0
				for i := range 60 {
					rec := once(t, c, 5*time.Second, kindOf(t, kind.method, kind.key, w.url("/"), fmt.Sprint(i)))
					wanted := ClassOK
					if rec.Reused {
						reused++
						wanted = map[string]Class{"closes": ClassClosed, "resets": ClassReset}[name]
					}
					if rec.Class != wanted {
						t.Errorf("call %d: %v (%v), reused %v; want %v", i+1, rec.Class, rec.Err, rec.Reused, wanted)
					}
					if got := w.requests.Load(); got != int64(i+1) {
						t.Fatalf("the partner saw %d requests for %d attempts", got, i+1)
					}
				}
				if reused < 5 {
					t.Errorf("only %d calls were on a used connection: this test shows nothing", reused)
				}
			})
		}
	}
}

// A kept connection that the partner has closed, reset or written to while it
// was idle is replaced in silence: that was no attempt.
func TestDeadIdleConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds() {
		for name, end := range map[string]func(*peer){
			"closed": thenFin, "reset": thenReset,
			"unasked bytes": func(p *peer) { p.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"); p.hold() },
		} {
			t.Run(kind.name+", "+name, func(t *testing.T) {
				t.Parallel()
				idle := make(chan struct{}, 1)
				w := serve(t, func(p *peer) {
					if p.request() == nil {
						return
					}
					p.send(answer("hi"))
					<-idle
					end(p)
				})
				c := newCaller(t, Config{MaxConnsPerHost: 1})
				for i := range 200 / 3 {
					rec := once(t, c, 5*time.Second, kindOf(t, kind.method, kind.key, w.url("/"), fmt.Sprint(i)))
					if rec.Class != ClassOK || rec.Reused || rec.Nth != 1 || rec.Bytes != 2 {
						t.Fatalf("call %d: %v (%v), reused %v, request %d on its connection; want ok on a new one", i+1, rec.Class, rec.Err, rec.Reused, rec.Nth)
					}
					if got := w.requests.Load(); got != int64(i+1) {
						t.Fatalf("the partner saw %d requests for %d attempts", got, i+1)
					}
					idle <- struct{}{}
					waitDead(t, c)
				}
			})
		}
	}
}

// waitDead waits until the one idle connection of c would not be used again.
func waitDead(t testing.TB, c *Caller) {
	t.Helper()
	for range 1000 {
		c.pool.mu.Lock()
		dead := true
		for _, h := range c.pool.hosts {
			for _, conn := range h.idle {
				dead = dead && !conn.alive()
			}
		}
		c.pool.mu.Unlock()
		if dead {
			return
		}
		time.Sleep(ms)
	}
	t.Fatal("the idle connection stays alive")
}

// The partner closes at the very moment at which the connection is used again.
// Whoever is faster, a request is seen at most once, and once if it was
// answered.
func TestKeepAliveRace(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := map[string]int{}
			w := serve(t, func(p *peer) {
				for range 2 {
					req := p.request()
					if req == nil {
						return
					}
					mu.Lock()
					seen[req.Header.Get("X-Id")]++
					mu.Unlock()
					p.send(answer("hi"))
				}
				// Closed without a farewell: the third request may be on its way.
			})
			c := newCaller(t, Config{})
			count := map[Class]int{}
			for i := range 200 {
				id := fmt.Sprint(i)
				rec := once(t, c, 5*time.Second, kindOf(t, kind.method, kind.key, w.url("/"), id))
				count[rec.Class]++
				mu.Lock()
				n := seen[id]
				mu.Unlock()
				switch {
				case rec.Class == ClassOK && n != 1, n > 1:
					t.Errorf("call %d: %v, and the partner saw it %d times", i, rec.Class, n)
				case rec.Class != ClassOK && rec.Class != ClassClosed && rec.Class != ClassReset:
					t.Errorf("call %d: %v (%v)", i, rec.Class, rec.Err)
				case rec.Class != ClassOK && n == 0 && rec.Effect == EffectAnswered:
					t.Errorf("call %d: effect answered, and the partner never saw it", i)
				}
			}
			t.Logf("classes: %v", count)
		})
	}
}

// An idle connection is closed after IdleTimeout, and by Close.
func TestIdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		cfg   Config
		close bool
	}{{"IdleTimeout", Config{IdleTimeout: 50 * ms}, false}, {"Close", Config{}, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{}, 4)
			w := serve(t, func(p *peer) {
				p.answers(answer("hi"))
				gone <- struct{}{}
			})
			c := newCaller(t, tt.cfg)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { once(t, c, 5*time.Second, get(t, w.url("/"))) })
			}
			wg.Wait()
			if tt.close {
				c.Close()
			}
			for range w.conns.Load() {
				select {
				case <-gone:
				case <-time.After(5 * time.Second):
					t.Fatal("a connection stays open")
				}
			}
			if open, _, _ := slots(c); open != 0 {
				t.Errorf("%d places still taken", open)
			}
		})
	}
}
