package budgetcaller

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestUploads: what becomes of a request's body.
func TestUploads(t *testing.T) {
	t.Parallel()
	const big = 32 << 20 // more than any buffer of the system takes
	zeros := func(n int64) io.Reader {
		return io.LimitReader(readerFunc(func(p []byte) (int, error) { return len(p), nil }), n)
	}
	drained := func(p *peer) {
		if p.request() != nil {
			p.send(answer("hi"))
			p.hold()
		}
	}
	ok := want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: 2, expected: 2, most: 3 * time.Second}
	bare := func(class Class, limit Limit, effects []Effect, least time.Duration, p ...Phase) want {
		return want{class: class, limit: limit, phases: p, effects: effects, expected: -1, least: least, most: least + time.Second}
	}
	for _, tt := range []struct {
		name   string
		body   io.Reader
		length int64
		script func(*peer)
		limits Limits
		budget time.Duration
		want   want
	}{
		{"small", strings.NewReader("hello"), 5, drained, Limits{}, 5 * time.Second, ok},
		{"small, chunked", strings.NewReader("hello"), -1, drained, Limits{}, 5 * time.Second, ok},
		{"empty, chunked", strings.NewReader(""), -1, drained, Limits{}, 5 * time.Second, ok},
		{"big", zeros(big), big, drained, Limits{Read: time.Second}, 20 * time.Second, ok},
		{"big, chunked", zeros(big), -1, drained, Limits{Read: time.Second}, 20 * time.Second, ok},
		{
			"nothing taken", zeros(big), big, func(p *peer) { time.Sleep(1500 * ms) },
			Limits{Read: 300 * ms},
			10 * time.Second,
			bare(ClassRequestTimeout, LimitRead, unknown(), 300*ms, PhaseRequest),
		},
		{
			"nothing taken, budget", zeros(big), big, func(p *peer) { time.Sleep(1500 * ms) },
			Limits{},
			300 * ms,
			bare(ClassBudgetExhausted, LimitBudget, unknown(), 299*ms, PhaseRequest),
		},
		{
			"taken, then silence", zeros(1 << 20), 1 << 20, func(p *peer) { p.hold() },
			Limits{Read: 300 * ms},
			10 * time.Second,
			bare(ClassReadTimeout, LimitRead, unknown(), 300*ms, PhaseFirstByte),
		},
		{
			"early answer, rest refused", zeros(big), big, func(p *peer) {
				if p.requestHead() != nil {
					p.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
					p.hold()
				}
			},
			Limits{Read: time.Second},
			10 * time.Second,
			want{class: ClassStatus, phases: in(PhaseBody), effects: answered(), status: 413, bytes: 2, expected: 2, most: time.Second},
		},
		{
			"early answer, then silence", zeros(big), big, func(p *peer) {
				if p.requestHead() != nil {
					p.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nn")
					time.Sleep(time.Second)
				}
			},
			Limits{Read: 300 * ms},
			10 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseBody), effects: unknown(), status: 413, bytes: 1, expected: 2, least: 300 * ms},
		},
		{
			"user's reader fails at once", failing(""), 100, (*peer).hold,
			Limits{},
			5 * time.Second,
			bare(ClassCanceled, LimitNone, unknown(), 0, PhaseRequest),
		},
		{
			"user's reader fails in the middle", failing(strings.Repeat("x", 64<<10)), 128 << 10, (*peer).hold,
			Limits{},
			5 * time.Second,
			bare(ClassCanceled, LimitNone, unknown(), 0, PhaseRequest),
		},
		{
			"user's reader fails, chunked", failing("hello"), -1, (*peer).hold,
			Limits{},
			5 * time.Second,
			bare(ClassCanceled, LimitNone, unknown(), 0, PhaseRequest),
		},
		{
			"body too short", strings.NewReader("hello"), 10, (*peer).hold,
			Limits{},
			5 * time.Second,
			bare(ClassCanceled, LimitNone, unknown(), 0, PhaseRequest),
		},
		{
			"body too long", strings.NewReader("hello world"), 5, (*peer).hold,
			Limits{},
			5 * time.Second,
			bare(ClassCanceled, LimitNone, unknown(), 0, PhaseRequest),
		},
		{
			"user's reader blocks: the partner is not silent", newStuck(strings.Repeat("x", 64<<10)), 128 << 10, (*peer).hold,
			Limits{Read: 100 * ms},
			500 * ms,
			bare(ClassBudgetExhausted, LimitBudget, unknown(), 499*ms, PhaseRequest),
		},
		{
			"user's reader blocks, partner closes", newStuck(strings.Repeat("x", 64<<10)), 128 << 10, func(p *peer) {
				p.requestHead()
				p.fin()
			},
			Limits{Read: 2 * time.Second},
			5 * time.Second,
			bare(ClassClosed, LimitNone, unknown(), 0, PhaseRequest),
		},
		{
			"user's reader blocks, partner answers", newStuck(strings.Repeat("x", 64<<10)), 128 << 10, func(p *peer) {
				p.requestHead()
				p.send(answer("hi"))
				p.hold()
			}, Limits{Read: 2 * time.Second}, 5 * time.Second, ok,
		},
		{
			"end without a byte while sending", zeros(big), big, func(p *peer) {
				p.requestHead()
				p.fin()
			},
			Limits{Read: time.Second},
			5 * time.Second,
			bare(ClassClosed, LimitNone, unknown(), 0, PhaseRequest),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tt.script)
			c := newCaller(t, Config{Limits: tt.limits})
			body := &userBody{Reader: tt.body}
			req := post(t, w.url("/"), body, tt.length)
			if s, ok := tt.body.(*stuck); ok {
				req.Body = s
			}
			rec := once(t, c, tt.budget, req)
			tt.want.check(t, rec)
			if req.Body == io.ReadCloser(body) && body.closed.Load() == 0 {
				t.Error("the body was not closed")
			}
			if n := w.conns.Load(); n > 1 { // the call may be over before the partner accepts
				t.Errorf("%d connections, want 1", n)
			}
		})
	}
}

// The partner answers before it has taken the body and throws the rest away
// with a RST, as most servers do. What it said was whole all the same.
func TestUploadEarlyAnswerThenReset(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) {
		if p.requestHead() != nil {
			p.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
			p.reset()
		}
	})
	c := newCaller(t, Config{})
	for i := range 50 {
		rec := once(t, c, 5*time.Second, newRequest(t, "POST", w.url("/"), bytes.NewReader(make([]byte, 4<<20))))
		if rec.Class != ClassStatus || rec.Status != 413 || rec.Effect != EffectAnswered {
			t.Errorf("run %d: %v, status %d in %v (%v); want status 413", i, rec.Class, rec.Status, rec.Phase, rec.Err)
		}
	}
}

// Run closes the request's body on every path, also where no connection was
// ever made.
func TestBodyIsAlwaysClosed(t *testing.T) {
	t.Parallel()
	good := serve(t, func(p *peer) { p.answers(answer("")) })
	silent := serve(t, (*peer).hold)
	for _, tt := range []struct {
		name, url string
		budget    time.Duration
		cfg       Config
	}{
		{"ok", good.url("/"), 5 * time.Second, Config{}},
		{"below the floor", good.url("/"), 50 * ms, Config{Limits: Limits{Floor: time.Second}}},
		{"not a scheme", "ftp://127.0.0.1/", time.Second, Config{}},
		{"not a port", "http://127.0.0.1:70000/", time.Second, Config{}},
		{"no such name", "http://nowhere.test/", time.Second, Config{Lookup: lookup(errUser)}},
		{"connection fails", "http://127.255.255.255:9/", time.Second, Config{}},
		{"read timeout", silent.url("/"), time.Second, Config{Limits: Limits{Read: 50 * ms}}},
		{"tls timeout", "https://" + silent.host, time.Second, Config{Limits: Limits{Connect: 50 * ms}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := &userBody{Reader: strings.NewReader("hello")}
			_, _ = run(t, newCaller(t, tt.cfg), tt.budget, post(t, tt.url, body, 5), nil)
			if body.closed.Load() == 0 {
				t.Error("the body was not closed")
			}
		})
	}
}

// A sink that fails ends the call with its own error, and the record says that
// it was our side that gave up.
func TestSinkFails(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) {
		if p.request() != nil {
			p.send("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + strings.Repeat("x", 1000))
			p.hold()
		}
	})
	c := newCaller(t, Config{MaxConnsPerHost: 1})
	for range 3 { // the place in the pool comes free each time
		res, err := run(t, c, 5*time.Second, get(t, w.url("/")), writerFunc(func([]byte) (int, error) { return 0, errUser }))
		if !errors.Is(err, errUser) {
			t.Errorf("error %v, want the sink's own", err)
		}
		if rec := res.Last(); rec.Class != ClassCanceled || rec.Phase != PhaseBody || rec.Status != 200 || rec.Effect != EffectUnknown {
			t.Errorf("%v in %v, status %d, effect %v", rec.Class, rec.Phase, rec.Status, rec.Effect)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// What the user's own body failed with can be found in the record's error.
func TestUserErrorIsHeld(t *testing.T) {
	t.Parallel()
	w := serve(t, (*peer).hold)
	for _, length := range []int64{100, -1} {
		req := post(t, w.url("/"), &userBody{Reader: failing("hello")}, length)
		rec := once(t, newCaller(t, Config{}), 5*time.Second, req)
		if rec.Class != ClassCanceled || !errors.Is(rec.Err, errUser) {
			t.Errorf("length %d: %v, error %v; want canceled and errors.Is(err, errUser)", length, rec.Class, rec.Err)
		}
	}
}
