package budgetcaller

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// lateBody gives its bytes only when the call is long over, and does not heed
// being closed.
type lateBody struct {
	release chan struct{}
	reads   atomic.Int64
}

func (b *lateBody) Read(p []byte) (int, error) {
	b.reads.Add(1)
	<-b.release
	return copy(p, strings.Repeat("x", 8<<10)), nil
}

func (b *lateBody) Close() error { return nil }

// A user's reader that comes back after the call has ended must not bring the
// process down.
func TestBugLateBodyPanics(t *testing.T) {
	t.Parallel()
	const again = "BUDGETCALLER_TEST_LATE_BODY"
	if os.Getenv(again) == "" { // a panic in a goroutine would end all tests: use a process of its own
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBugLateBodyPanics$", "-test.count=1")
		cmd.Env = append(os.Environ(), again+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	w := serve(t, (*peer).hold)
	c := newCaller(t, Config{})
	body := &lateBody{release: make(chan struct{})}
	rec := once(t, c, 200*ms, post(t, w.url("/"), body, 1<<20))
	if rec.Class != ClassBudgetExhausted || rec.Elapsed > 200*ms+late(rec.Start) {
		t.Errorf("%v after %v (%v)", rec.Class, rec.Elapsed, rec.Err)
	}
	close(body.release)
	time.Sleep(100 * ms)
	if n := body.reads.Load(); n != 1 {
		t.Errorf("the body was asked %d times, want no time after the end", n)
	}
}

// A connection is kept after a small POST as it is after a GET, however fast
// the partner answers.
func TestBugPostKeepsConnection(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) { p.answers(answer("hi")) })
	c := newCaller(t, Config{})
	reused := 0
	for range 200 {
		if once(t, c, 5*time.Second, newRequest(t, "POST", w.url("/"), strings.NewReader("hello"))).Reused {
			reused++
		}
	}
	if reused != 199 || w.conns.Load() != 1 {
		t.Errorf("%d of 200 POSTs were on a used connection, %d connections; want 199 and 1", reused, w.conns.Load())
	}
}

// Opening a body again for a redirect that is only looked at leaves it open.
func TestBugRedirectClosesBodies(t *testing.T) {
	t.Parallel()
	w := hops(t, "307")
	var opened atomic.Int64
	closed := &userBody{}
	req := newRequest(t, "POST", w.url("/"), nil)
	req.ContentLength = 5
	req.GetBody = func() (io.ReadCloser, error) {
		opened.Add(1)
		return &sharedBody{strings.NewReader("hello"), closed, sync.Once{}}, nil
	}
	req.Body, _ = req.GetBody()
	res, err := run(t, newCaller(t, Config{Redirects: 9}), 5*time.Second, req, io.Discard)
	if err != nil || len(res.Attempts) != 6 {
		t.Fatalf("%d attempts, %v", len(res.Attempts), err)
	}
	if opened.Load() != closed.closed.Load() {
		t.Errorf("%d bodies opened for 6 attempts, %d closed", opened.Load(), closed.closed.Load())
	}
}

// sharedBody counts its first Close in all.
type sharedBody struct {
	io.Reader
	all  *userBody
	once sync.Once
}

func (b *sharedBody) Close() error { b.once.Do(func() { b.all.closed.Add(1) }); return nil }

// What can never be written is refused before anything is dialled, and is not
// "canceled": nobody gave up.
func TestBugUnsendableRequests(t *testing.T) {
	t.Parallel()
	w := serve(t, (*peer).hold)
	noBody := get(t, w.url("/"))
	noBody.ContentLength = 5
	control := get(t, w.url("/"))
	control.URL.Opaque = "/a\nb"
	port := get(t, w.url("/"))
	port.URL.Host = "127.0.0.1:http" // is looked up as a name as it is
	for name, req := range map[string]*http.Request{
		"length without a body": noBody, "line break in the target": control, "port that is a word": port,
	} {
		res, err := run(t, newCaller(t, Config{Lookup: lookup(errUser)}), time.Second, req, nil)
		if err == nil || len(res.Attempts) != 0 {
			t.Errorf("%s: error %v, attempts %+v; want an error and none", name, err, res.Attempts)
		}
	}
	if n := w.conns.Load(); n != 0 {
		t.Errorf("%d connections made for what cannot be sent", n)
	}
}

// A sink that takes less than it was given, without an error, loses bytes:
// io.Writer forbids it, and io.Copy reports it as io.ErrShortWrite.
func TestBugShortSink(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) { p.answers(answer("hello")) })
	_, err := run(t, newCaller(t, Config{}), 5*time.Second, get(t, w.url("/")), writerFunc(func(p []byte) (int, error) { return len(p) / 2, nil }))
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v, want io.ErrShortWrite", err)
	}
}

// A POST is taken back like a GET if its connection died before a byte of it
// was written, whoever notices first, the reader or the sender.
func TestBugRetractPost(t *testing.T) {
	t.Parallel()
	checkRetract(t, func(url string) *http.Request { return newRequest(t, "POST", url, strings.NewReader("hello")) })
}

// What a user's reader says because the engine itself closed it is the echo of
// the verdict, not a failure of the user's: Err is nil where a limit ended it.
func TestBugEchoOfClose(t *testing.T) {
	t.Parallel()
	w := serve(t, (*peer).hold)
	rec := once(t, newCaller(t, Config{}), 100*ms, post(t, w.url("/"), newStuck("hello"), 100))
	if rec.Class != ClassBudgetExhausted || errors.Unwrap(rec.Err) != nil {
		t.Errorf("%v, holding %v; want budget_exhausted, holding nil", rec.Err, errors.Unwrap(rec.Err))
	}
}
