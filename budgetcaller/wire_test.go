package budgetcaller

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// wire is a scripted server on loopback.
type wire struct {
	host     string // 127.0.0.1:port
	scheme   string
	conns    atomic.Int64 // connections accepted
	requests atomic.Int64 // requests that peers have read
}

func (w *wire) url(path string) string { return w.scheme + "://" + w.host + path }

// peer is the server's end of one connection.
type peer struct {
	net.Conn // plain TCP, or TLS over it
	tcp      *net.TCPConn
	br       *bufio.Reader
	wire     *wire
	nth      int64 // number of this connection, from 1
}

// serve runs script for every connection to a loopback port, and closes the
// connection when script returns. The end of the test closes what is left.
func serve(t testing.TB, script func(*peer)) *wire {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", script)
}

// serveAt is serve at an address of the test's own choice.
func serveAt(t testing.TB, addr string, script func(*peer)) *wire {
	t.Helper()
	return serveOver(t, "http", addr, script)
}

// serveTLS is serve with a handshake made before script runs. A failed one ends
// the connection.
func serveTLS(t testing.TB, cfg *tls.Config, script func(*peer)) *wire {
	t.Helper()
	return serveOver(t, "https", "127.0.0.1:0", func(p *peer) {
		s := tls.Server(p.tcp, cfg)
		if s.Handshake() == nil {
			p.Conn, p.br = s, bufio.NewReader(s)
			script(p)
		}
	})
}

func serveOver(t testing.TB, scheme, addr string, script func(*peer)) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{host: ln.Addr().String(), scheme: scheme}
	serveConns(t, ln, func(c net.Conn) {
		script(&peer{Conn: c, tcp: c.(*net.TCPConn), br: bufio.NewReader(c), wire: w, nth: w.conns.Add(1)})
	})
	return w
}

// request reads a request and its body; nil means that none came whole.
func (p *peer) request() *http.Request {
	req := p.requestHead()
	if req == nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil
	}
	return req
}

// requestHead reads a request's head and leaves its body on the wire.
func (p *peer) requestHead() *http.Request {
	req, err := http.ReadRequest(p.br)
	if err != nil {
		return nil
	}
	p.wire.requests.Add(1)
	return req
}

// send reports false once the client has gone.
func (p *peer) send(s string) bool {
	_, err := io.WriteString(p.Conn, s)
	return err == nil
}

// answers sends s to each request until the client goes.
func (p *peer) answers(s string) {
	for p.request() != nil {
		p.send(s)
	}
}

// hold reads on until the client goes.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.br) }

// fin ends the sending in order and waits for the client to go: a close with
// unread bytes would be a reset.
func (p *peer) fin() {
	_ = p.tcp.CloseWrite()
	_, _ = io.Copy(io.Discard, p.tcp)
}

// reset closes with a RST.
func (p *peer) reset() {
	_ = p.tcp.SetLinger(0)
	_ = p.tcp.Close()
}

// drip sends s byte by byte until the client goes, and returns the longest time
// between two of them, which on a busy machine is more than asked for.
func (p *peer) drip(s string, every time.Duration) (longest time.Duration) {
	last := time.Now()
	for i := range len(s) {
		if !p.send(s[i : i+1]) {
			break
		}
		longest = max(longest, time.Since(last))
		last = time.Now()
		time.Sleep(every)
	}
	return longest
}

// get is a GET of url.
func get(t testing.TB, url string) *http.Request { return newRequest(t, http.MethodGet, url, nil) }

func newRequest(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// patience is how long after its budget a call may last before the test says
// that it hangs.
const patience = 20 * time.Second

// run makes a call and returns its account; it fails the test, rather than
// waiting for ever, if the call does not end.
func run(t testing.TB, c *Caller, budget time.Duration, req *http.Request, sink io.Writer) (Result, error) {
	t.Helper()
	ctx, cancel, err := Begin(t.Context(), budget)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	return runIn(ctx, t, c, budget, req, sink)
}

func runIn(ctx context.Context, t testing.TB, c *Caller, budget time.Duration, req *http.Request, sink io.Writer) (Result, error) {
	t.Helper()
	var res Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = c.Run(ctx, req, sink)
	}()
	select {
	case <-done:
	case <-time.After(budget + patience):
		t.Fatalf("%s %s: still running %v after its budget of %v", req.Method, req.URL, patience, budget)
	}
	for _, rec := range res.Attempts {
		account(t, rec)
		if deadline, _ := ctx.Deadline(); rec.Limit == LimitBudget && rec.Start.Add(rec.Elapsed).Before(deadline) {
			t.Errorf("ended %v before the budget did", deadline.Sub(rec.Start.Add(rec.Elapsed)))
		}
	}
	return res, err
}

// once makes a call of exactly one attempt and returns its record.
func once(t testing.TB, c *Caller, budget time.Duration, req *http.Request) Record {
	t.Helper()
	res, err := run(t, c, budget, req, nil)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	if len(res.Attempts) != 1 {
		t.Fatalf("%s %s: %d attempts, want 1", req.Method, req.URL, len(res.Attempts))
	}
	return res.Attempts[0]
}

// account holds what is true of every record, whatever happened.
func account(t testing.TB, rec Record) {
	t.Helper()
	fail := func(what string) { t.Helper(); t.Errorf("record: %s: %+v, error %v", what, rec, rec.Err) }
	answered := rec.Class == ClassOK || rec.Class == ClassStatus
	if rec.Class == ClassNone || rec.Class >= classCount {
		fail("no class")
	}
	if answered != (rec.Err == nil) {
		fail("Err must be nil for ok and status, and only for them")
	}
	var e *Error
	if rec.Err != nil && (!errors.As(rec.Err, &e) || e.Class != rec.Class || e.Phase != rec.Phase || e.Limit != rec.Limit || e.Effect != rec.Effect) {
		fail("Err does not tell the same")
	}
	ours := rec.Limit != LimitNone && rec.Limit != LimitKernel
	if (rec.Configured > 0) != ours {
		fail("Configured must be set if a limit of ours fired, and only then")
	}
	if rec.Overshoot < 0 || (!ours && rec.Overshoot != 0) {
		fail("Overshoot")
	}
	if ours && rec.Limit != LimitBudget && rec.Limit != LimitFloor && rec.Elapsed < rec.Configured {
		fail("ended before its limit")
	}
	if _, reached := rec.Phases.Took(rec.Phase); rec.Phase != PhaseNone && !reached {
		fail("the phase it ended in has no duration")
	}
	var sum time.Duration
	for _, p := range Phases() {
		took, reached := rec.Phases.Took(p)
		sum += took
		if reached && p > rec.Phase {
			fail("a phase after the last one")
		}
	}
	if sum > rec.Elapsed {
		fail("the phases last longer than the attempt")
	}
	if rec.Phase < PhaseRequest && (rec.Effect != EffectNone || rec.Status != 0 || rec.Bytes != 0) {
		fail("more than could have happened")
	}
	if rec.Phase >= PhaseRequest && (rec.Nth < 1 || !rec.Local.IsValid() || !rec.Remote.IsValid()) {
		fail("a request without its connection")
	}
	if rec.Expected >= 0 && (rec.Bytes > rec.Expected || (answered && rec.Bytes != rec.Expected)) {
		fail("bytes do not fit what was announced")
	}
}

// answer is a whole answer with a body of declared length.
func answer(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
}

// half is an answer that announces 100 bytes and brings 50.
func half() string {
	return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 50)
}
