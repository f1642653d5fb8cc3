package budgetcaller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// mixedKey is the key of a value that nobody asks for.
type mixedKey struct{}

// mixedOutcome is what one call of many left to whoever made it.
type mixedOutcome struct {
	id       string
	answer   *Answer
	failure  *Error
	attempts []Record
	text     string
}

func (o *mixedOutcome) String() string {
	text := fmt.Sprint(o.attempts)
	if o.answer != nil {
		text += fmt.Sprintf("%d %v %v %q", o.answer.Status, o.answer.Header, o.answer.Trailer, o.answer.Body)
	}
	if o.failure != nil {
		text += fmt.Sprint(o.failure, o.failure.Attempts, *o.failure)
	}
	return text
}

// Hundreds of calls at once on one Caller, each ended in another way, some given
// up and some out of time, while there are too few connections, and hooks and
// sinks panic. Each sees only its own, none is over before its limit, and what it
// left behind stays as it is. Then the Caller is closed under them.
func TestManyCallsTogether(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed under them %v", closed), func(t *testing.T) {
			t.Parallel()
			manyTogether(t, closed)
		})
	}
}

func manyTogether(t *testing.T, closed bool) {
	p := &mixedPartner{t: t, seen: map[string]int{}}
	target := raw(t, p.serve)
	c := newCaller(t, Config{
		MaxConnsPerHost: 24, Redirects: 2,
		Limits:  Limits{Read: time.Minute, Connect: time.Minute},
		Default: Dependency{Retry: fixed(3, time.Millisecond)},
		Hooks: Hooks{Attempt: func(e AttemptEvent) {
			if e.Record.URL.Query().Has("panic") {
				panic("hook")
			}
		}},
	})
	var mu sync.Mutex
	var outcomes []*mixedOutcome
	var wg sync.WaitGroup
	for g := range 200 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(g)))
			for n := range 12 {
				o := oneTogether(t, c, target, fmt.Sprintf("%d-%d", g, n), random)
				if o == nil {
					continue
				}
				o.text = o.String()
				mu.Lock()
				outcomes = append(outcomes, o)
				if closed && len(outcomes) == 500 {
					c.Close()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, o := range outcomes {
		if now := o.String(); now != o.text {
			t.Errorf("%s: what was kept has changed from\n%s\nto\n%s", o.id, o.text, now)
		}
		p.agrees(o)
	}
	c.Close()
	open, idle, waiting := slots(c)
	if open != 0 || idle != 0 || waiting != 0 {
		t.Errorf("closed: %d places are taken, %d of them idle, and %d wait", open, idle, waiting)
	}
	for i := range c.alarms.each {
		l := &c.alarms.each[i]
		l.mu.Lock()
		if n := len(l.line.heap); n > 0 {
			t.Errorf("alarm %d still has %d waiting", i, n)
		}
		l.mu.Unlock()
	}
}

// oneTogether makes one call of many and returns what it left, nil if it
// panicked or left nothing.
func oneTogether(t *testing.T, c *Caller, target, id string, random *rand.Rand) (o *mixedOutcome) {
	ends := []string{"ok", "ok", "ok", "hang", "stall", "cut", "close", "reset", "last", "chunks", "elsewhere", "second", "again"}
	how := ends[random.IntN(len(ends))]
	budget, cancels := time.Minute, random.IntN(5) == 0
	if how == "hang" || how == "stall" || random.IntN(6) == 0 {
		budget = time.Duration(5+random.IntN(60)) * time.Millisecond
	}
	began := time.Now()
	ctx, cancel, err := Begin(t.Context(), budget)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer cancel()
	if random.IntN(3) == 0 {
		ctx = context.WithValue(ctx, mixedKey{}, "a context of another kind")
	}
	if cancels {
		defer time.AfterFunc(time.Duration(random.IntN(20))*time.Millisecond, cancel).Stop()
	}
	where := fmt.Sprintf("%s%s?id=%s", target, how, id)
	if random.IntN(10) == 0 {
		where += "&panic"
	}
	bodies := []func(string) io.Reader{
		func(string) io.Reader { return nil },
		func(s string) io.Reader { return strings.NewReader(s) },
		func(s string) io.Reader { return readerFunc(strings.NewReader(s).Read) },
		func(s string) io.Reader { return bytes.NewReader([]byte(s + strings.Repeat("x", 40_000))) },
	}
	req, err := http.NewRequest(http.MethodPut, where, bodies[random.IntN(len(bodies))](id+" "))
	if err != nil {
		t.Error(err)
		return nil
	}
	req.Header.Set("Id", id)
	before := fmt.Sprint(req.Header)
	defer func() {
		if p := recover(); p != nil && p != "hook" && p != "sink" {
			panic(p)
		}
		if after := fmt.Sprint(req.Header); after != before {
			t.Errorf("%s: its header has become %s", id, after)
		}
		for i := range o.records() {
			r := &o.attempts[i]
			if r.URL.Query().Get("id") != id {
				t.Errorf("%s has the record of %v", id, r.URL)
			}
			if r.Class == ClassBudgetExhausted && r.Start.Add(r.Elapsed).Sub(began) < budget {
				t.Errorf("%s: its budget of %v was over after %v", id, budget, r.Start.Add(r.Elapsed).Sub(began))
			}
			if r.Class == ClassCanceled && !cancels && o.answer == nil && o.failure != nil && !errors.Is(o.failure, ErrClosed) {
				t.Errorf("%s: nobody gave up: %v", id, r.Err)
			}
			if r.Class == ClassReadTimeout || r.Class == ClassMalformed {
				t.Errorf("%s: %v", id, r.Err)
			}
		}
	}()
	return callTogether(t, c, ctx, req, id, random.IntN(8))
}

func (o *mixedOutcome) records() []Record {
	if o == nil {
		return nil
	}
	return o.attempts
}

func callTogether(t *testing.T, c *Caller, ctx context.Context, req *http.Request, id string, way int) *mixedOutcome {
	o := &mixedOutcome{id: id}
	switch way {
	case 0: // a sink that is full, or panics
		res, err := c.Run(ctx, req, writerFunc(func(p []byte) (int, error) {
			if string(p[:1]) == id[:1] && len(id)%2 == 0 {
				panic("sink")
			}
			return 0, io.ErrShortWrite
		}))
		if err != nil && !errors.Is(err, io.ErrShortWrite) && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		o.attempts = res.Attempts
		return o
	case 1: // a body that is neither read nor closed
		client := &http.Client{Transport: c.RoundTripper()}
		resp, err := client.Do(req.WithContext(ctx))
		var failed *url.Error
		if err == nil && resp.Header.Get("Id") != id || err != nil && !errors.As(err, &failed) {
			t.Errorf("%s: got %v, %v", id, resp, err)
		}
		return nil
	}
	answer, err := c.Do(ctx, req)
	switch {
	case err == nil:
		o.answer, o.attempts = answer, answer.Result.Attempts
		if got := string(answer.Body); answer.Header.Get("Id") != id || answer.OK() && got != id {
			t.Errorf("%s: got %v %q", id, answer.Header, got)
		}
		if tail := answer.Trailer.Get("T"); tail != "" && tail != id {
			t.Errorf("%s: got the trailer %q", id, tail)
		}
	case errors.As(err, &o.failure):
		o.attempts = o.failure.Attempts
	case !errors.Is(err, ErrClosed):
		t.Error(err)
	}
	return o
}
