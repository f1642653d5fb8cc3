package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
)

// proxy stands before the server. Once it is frozen, nothing comes through any
// more and no connection ends, as if the server's processes were stopped.
type proxy struct {
	url string

	mu     sync.Mutex
	frozen bool
	conns  []net.Conn
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	to, err := url.Parse(shared.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "px-") // short, for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{url: "postgres://postgres@/postgres?host=" + dir}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", filepath.Join(to.Query().Get("host"), socket))
			if err != nil {
				t.Error(err)
				_ = in.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			p.mu.Unlock()
			wg.Go(func() { p.pass(in, out) })
			wg.Go(func() { p.pass(out, in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		wg.Wait()
		_ = os.RemoveAll(dir)
	})
	return p
}

func (p *proxy) pass(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		if frozen {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			_ = to.Close()
			return
		}
	}
}

func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = true
}

// slack is what a loaded machine may add.
const slack = 5 * time.Second

// within runs f, which must end with an error in time.
func within(t *testing.T, what string, least, most time.Duration, f func() error) error {
	t.Helper()
	start := time.Now()
	err := f()
	if took := time.Since(start); err == nil || took < least || took > most+slack {
		t.Errorf("%s: got %v after %v, want an error after %v to %v", what, err, took, least, most)
	}
	return err
}

// A server that no longer answers holds nobody for longer than was asked for, and
// says so.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	p := newProxy(t)
	s, err := postgres.Open(t.Context(), p.url, postgres.Options{Create: true, Schema: newSchema(), BusyWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	now := retryqueue.MillisOf(time.Now())
	if _, err := s.Add(t.Context(), now, []retryqueue.NewJob{{ID: "a", Deadline: now + 60_000, MaxAttempts: 3}}); err != nil {
		t.Fatal(err)
	}
	if taken, err := s.Take(t.Context(), retryqueue.Take{Now: now, Claim: 1, LeaseUntil: now + 30_000}); len(taken.Jobs) != 1 || err != nil {
		t.Fatalf("got %+v, %v", taken, err)
	}
	p.freeze()
	for _, c := range []struct {
		name        string
		least, most time.Duration
		run         func(context.Context) error
	}{
		{"Renew ends with its deadline", 300 * time.Millisecond, 300 * time.Millisecond, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			_, err := s.Renew(ctx, "a", 1, now+40_000)
			return err
		}},
		{"settling ends with its deadline", 300 * time.Millisecond, 300 * time.Millisecond, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			_, err := s.Take(ctx, retryqueue.Take{Now: now, Settle: []retryqueue.Settlement{{ID: "a", Attempt: 1, State: retryqueue.Done, At: now}}})
			return err
		}},
		{"a claim ends some seconds after the stop", 200 * time.Millisecond, 3 * time.Second, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			_, err := s.Take(ctx, retryqueue.Take{Now: now, Claim: 1, LeaseUntil: now + 30_000})
			return err
		}},
		{"Stats end with their deadline", 300 * time.Millisecond, 300 * time.Millisecond, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			_, err := s.Stats(ctx, now)
			return err
		}},
	} {
		err := within(t, c.name, c.least, c.most, func() error { return c.run(t.Context()) })
		if !errors.Is(err, retryqueue.ErrNoAnswer) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %v", c.name, err, retryqueue.ErrNoAnswer)
		}
	}
	start := time.Now()
	if err := s.Close(); err != nil || time.Since(start) > 2*time.Second+slack {
		t.Errorf("Close: got %v after %v", err, time.Since(start))
	}
}

// Several that wait for a server that no longer answers end together, when nobody
// listens any more, and Close after them.
func TestManyWaitForAFrozenServer(t *testing.T) {
	t.Parallel()
	p := newProxy(t)
	s, err := postgres.Open(t.Context(), p.url, postgres.Options{Create: true, Schema: newSchema()})
	if err != nil {
		t.Fatal(err)
	}
	p.freeze()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	errs := make(chan error, 6)
	for range cap(errs) {
		go func() {
			_, err := s.Take(ctx, retryqueue.Take{Now: 10, Claim: 1, LeaseUntil: 30_000})
			errs <- err
		}()
	}
	time.Sleep(200 * time.Millisecond) // some have begun, some wait
	start := time.Now()
	stop()
	unheard := 0
	for range cap(errs) {
		err := <-errs
		if errors.Is(err, retryqueue.ErrNoAnswer) {
			unheard++
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v or %v", err, retryqueue.ErrNoAnswer, context.Canceled)
		}
	}
	if took := time.Since(start); unheard == 0 || took < 2*time.Second || took > 2*time.Second+slack {
		t.Errorf("%d claims that may have been made, after %v, want at least one, after 2s", unheard, took)
	}
	start = time.Now()
	if err := s.Close(); err != nil || time.Since(start) > 2*time.Second+slack {
		t.Errorf("Close: got %v after %v", err, time.Since(start))
	}
}

// A stop while the server no longer answers ends in a few seconds with an error
// that says what could not be written down, and loses nothing: when the server is
// back, the job's lease ends and it is done.
func TestStopWhileTheServerIsFrozen(t *testing.T) {
	t.Parallel()
	p, schema := newProxy(t), newSchema()
	s, err := postgres.Open(t.Context(), p.url, postgres.Options{Create: true, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	queue := func(store retryqueue.Store, send func(context.Context, retryqueue.Job) error) *retryqueue.Queue {
		q, err := retryqueue.New(retryqueue.Config{Store: store, Send: send, Lease: 2 * time.Second, Renew: true})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	q := queue(s, func(context.Context, retryqueue.Job) error {
		p.freeze()
		time.AfterFunc(50*time.Millisecond, stop)
		return nil
	})
	now := retryqueue.MillisOf(time.Now())
	if _, err := q.Add(ctx, retryqueue.NewJob{ID: "a", Deadline: now + 600_000, MaxAttempts: 2}); err != nil {
		t.Fatal(err)
	}
	err = within(t, "Work", 0, 10*time.Second, func() error { return q.Work(ctx, retryqueue.WorkConfig{Workers: 2}) })
	if !errors.Is(err, retryqueue.ErrNoAnswer) || !strings.Contains(err.Error(), "could not be written down: 1") {
		t.Errorf("Work: got %v, want %v and what was not written down", err, retryqueue.ErrNoAnswer)
	}
	_ = s.Close()

	again, err := postgres.Open(t.Context(), shared.URL(t), postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	q = queue(again, func(context.Context, retryqueue.Job) error { done(); return nil })
	if err := q.Work(ctx, retryqueue.WorkConfig{Poll: 50 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	if j, err := again.Get(t.Context(), "a"); j.State != retryqueue.Done || j.Attempts != 2 || err != nil {
		t.Errorf("got %+v, %v, want it done in its second attempt", j, err)
	}
}

// A store whose tables are gone ends its workers.
func TestTablesThatAreGone(t *testing.T) {
	t.Parallel()
	schema := newSchema()
	s, err := postgres.Open(t.Context(), shared.URL(t), postgres.Options{Create: true, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Stats(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	exec(t, "DROP SCHEMA "+schema+" CASCADE")
	q, err := retryqueue.New(retryqueue.Config{Store: s, Send: func(context.Context, retryqueue.Job) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Work(t.Context(), retryqueue.WorkConfig{Workers: 2, UntilIdle: true}); !errors.Is(err, retryqueue.ErrDamaged) || strings.Contains(err.Error(), "\n") {
		t.Errorf("Work: got %v, want one line with %v", err, retryqueue.ErrDamaged)
	}
}
