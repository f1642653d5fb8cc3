package budgetcaller

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// deadPair returns a Caller whose one idle connection is dead, but does not
// look it: it died between the look and the write.
func deadPair(t testing.TB, cfg Config) (*Caller, *wire, *conn) {
	t.Helper()
	die := make(chan struct{}, 1)
	die <- struct{}{}
	w := serve(t, func(p *peer) {
		for p.request() != nil {
			p.send(answer("hi"))
			select {
			case <-die:
				p.reset()
				return
			default:
			}
		}
	})
	cfg.MaxConnsPerHost = 1
	c := newCaller(t, cfg)
	if rec := once(t, c, 5*time.Second, get(t, w.url("/"))); rec.Class != ClassOK {
		t.Fatalf("first call: %v (%v)", rec.Class, rec.Err)
	}
	waitDead(t, c)
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	for _, h := range c.pool.hosts {
		for _, idle := range h.idle {
			idle.raw = nil // without it alive cannot look
			return c, w, idle
		}
	}
	t.Fatal("no idle connection")
	return nil, nil, nil
}

// checkRetract holds that a request on a connection that died just before the
// write is made again on a new one, unseen by the partner and by the account.
func checkRetract(t *testing.T, req func(url string) *http.Request) {
	t.Helper()
	count := map[Class]int{}
	for range 20 {
		c, w, _ := deadPair(t, Config{})
		rec := once(t, c, 5*time.Second, req(w.url("/")))
		count[rec.Class]++
		if rec.Class == ClassOK && (rec.Reused || rec.Nth != 1 || w.requests.Load() != 2) {
			t.Errorf("reused %v, request %d, %d requests seen", rec.Reused, rec.Nth, w.requests.Load())
		}
		if open, idle, _ := slots(c); open != idle {
			t.Errorf("%d places taken, %d idle", open, idle)
		}
	}
	if count[ClassOK] != 20 {
		t.Errorf("got %v, want 20 times ok", count)
	}
}

// A used connection on which no byte could be written is replaced: no attempt
// was made on it.
func TestRetract(t *testing.T) {
	t.Parallel()
	checkRetract(t, func(url string) *http.Request { return get(t, url) })
}

// A body that cannot be had again is not sent twice; nothing of it has left.
func TestRetractBodyOnlyOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		c, w, _ := deadPair(t, Config{})
		rec := once(t, c, 5*time.Second, newRequest(t, "POST", w.url("/"), io.MultiReader(strings.NewReader("hello"))))
		if (rec.Class != ClassReset && rec.Class != ClassClosed) || rec.Effect != EffectNone || w.requests.Load() != 1 {
			t.Errorf("%v, effect %v (%v), %d requests seen; want reset or closed, effect none, 1", rec.Class, rec.Effect, rec.Err, w.requests.Load())
		}
	}
}
