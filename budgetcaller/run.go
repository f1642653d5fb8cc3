package budgetcaller

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrClosed is returned for a call on a Caller that was closed.
var ErrClosed = errors.New("the caller is closed")

// Result is what Run reports: the account of a whole call.
type Result struct {
	// Attempts holds the account of every request sent or tried, in order: one,
	// and one more for each redirect followed.
	Attempts []Record
	// Elapsed is the time from the start of the first to the end of the last.
	Elapsed time.Duration
}

// Last returns the account of the last attempt, which decided the call.
func (r Result) Last() Record { return r.Attempts[len(r.Attempts)-1] }

// Effect returns the worst effect of all attempts.
func (r Result) Effect() Effect {
	var worst Effect
	for i := range r.Attempts {
		worst = max(worst, r.Attempts[i].Effect)
	}
	return worst
}

// Run makes the call req under the budget in ctx (see Begin), reads the whole
// body into sink (nil: counts it and throws it away), and returns its account.
// Redirects are followed as Config says, within the same budget; only the last
// answer's body goes to sink. Nothing is retried and nothing is added to the
// request: the limits are those of Config.Default. Do is the whole call.
//
// Run always closes req.Body. The error is never about the network: it says
// that req cannot be sent at all (no budget, a scheme that is not http or
// https, no host, a closed Caller), or it is sink's own. The Result holds
// attempts beside an error in the latter case, and where a redirect was to be
// followed on a Caller that had been closed meanwhile.
func (c *Caller) Run(ctx context.Context, req *http.Request, sink io.Writer) (Result, error) {
	var res Result
	start := time.Now()
	err := c.follow(ctx, &try{req: req, limits: c.other.Limits, redirects: c.redirects}, sink, &res)
	res.Elapsed = time.Since(start)
	return res, err
}

// try is what one attempt is made with.
type try struct {
	req       *http.Request
	limits    Limits
	maxBody   int64 // bytes; 0: no bound
	tell      telling
	number    []string // of the attempt, as HeaderAttempt has it
	redirects int      // how many are followed
	keep      *Answer  // where the answer goes instead of a sink, if not nil

	// Filled in on the way. A caller that has just done so sets the last two,
	// having seen that there is time for the attempt.
	rec      *Record // where its account goes
	redirect bool    // a redirect in answer to this one will be followed
	route    route
	start    time.Time
	deadline time.Time
}

// follow makes an attempt and one more for each redirect that is followed, and
// adds their records to res.
func (c *Caller) follow(ctx context.Context, t *try, sink io.Writer, res *Result) error {
	for n := 0; ; n++ {
		t.redirect = n < t.redirects
		res.Attempts = append(res.Attempts, Record{})
		t.rec = &res.Attempts[len(res.Attempts)-1]
		rec, err := c.one(ctx, t, sink)
		if rec == nil {
			res.Attempts = res.Attempts[:len(res.Attempts)-1] // there was none
		}
		if err != nil || !t.redirect {
			return err
		}
		next := redirected(ctx, t.req, rec)
		if next == nil {
			return nil
		}
		t.req, t.start = next, time.Time{}
	}
}

// one makes exactly one attempt. The body of a redirect that will be followed
// is thrown away.
func (c *Caller) one(ctx context.Context, t *try, sink io.Writer) (*Record, error) {
	seen := !t.start.IsZero() && c.proxy == nil // which is the user's own, and may take its time
	if err := c.prepare(ctx, t, seen); err != nil {
		closeBody(t.req)
		return nil, err
	}
	if !seen {
		if rec := notStarted(ctx, t); rec != nil {
			closeBody(t.req)
			return rec, nil
		}
	}
	b, rec := c.start(ctx, t)
	if rec != nil {
		return rec, nil
	}
	if err := c.take(t, b, sink); err != nil {
		return b.rec, err
	}
	rec = b.rec
	c.reuse(b.a)
	return rec, nil
}

// take reads the answer's body to where it belongs.
func (c *Caller) take(t *try, b *body, sink io.Writer) error {
	defer func() {
		if b.rec == nil {
			_ = b.Close() // sink panics: the connection must not stay taken
		}
	}()
	if t.redirect {
		if _, leads := redirectOf(t.req, b.a.rec); leads {
			return c.pour(nil, b)
		}
	}
	if t.keep != nil {
		t.keep.take(b)
		return nil
	}
	return c.pour(sink, b)
}

// pour reads the body into sink, nil for nowhere. The error is sink's own.
func (c *Caller) pour(sink io.Writer, b *body) error {
	if sink == nil {
		sink = io.Discard
	}
	buf := c.buffers.Get().(*[copyBuffer]byte)
	defer c.buffers.Put(buf)
	for {
		n, err := b.Read(buf[:])
		if n > 0 {
			w, werr := sink.Write(buf[:n])
			if werr == nil && w < n {
				werr = io.ErrShortWrite
			}
			if werr != nil {
				_ = b.Close()
				return werr
			}
		}
		if err != nil {
			return nil
		}
	}
}

// copyBuffer is the size of the buffers with which Run reads bodies.
const copyBuffer = 16 << 10

// prepare finds out where the attempt leads and, unless that was just seen,
// until when it may last.
func (c *Caller) prepare(ctx context.Context, t *try, seen bool) error {
	if c.pool.isClosed() {
		return ErrClosed
	}
	var err error
	if seen {
		t.route, err = c.routeOf(t.req)
		return err
	}
	if t.deadline, err = deadlineOf(ctx); err != nil {
		return err
	}
	t.route, err = c.routeOf(t.req)
	t.start = time.Now()
	return err
}

// notStarted is the record of an attempt that is not worth starting, nil if it
// is: the caller has given up, or less than the floor is left.
func notStarted(ctx context.Context, t *try) *Record {
	left, floor := t.deadline.Sub(t.start), t.limits.Floor
	gone, below := canceled(ctx), !t.deadline.IsZero() && left < floor
	if !gone && !below {
		return nil
	}
	rec := t.rec
	*rec = Record{Method: methodOf(t.req), URL: t.req.URL, Expected: -1, Start: t.start, Class: ClassCanceled}
	e := &Error{Class: ClassCanceled}
	if !gone {
		rec.Class, rec.Limit, rec.Configured = ClassBelowFloor, LimitFloor, floor
		e.Class, e.Limit, e.Configured, e.Left, e.Needed = ClassBelowFloor, LimitFloor, floor, max(0, left), floor
	}
	rec.Err = e
	return rec
}

// start makes an attempt as far as the head of the answer. It returns the body
// to read, or the record if the attempt is over.
func (c *Caller) start(ctx context.Context, t *try) (b *body, rec *Record) {
	a := c.begin(ctx, t)
	defer func() {
		if b == nil && rec == nil {
			a.finish(ClassCanceled, LimitNone, nil) // the user's own code panics
		}
	}()
	if c.stub != nil {
		return a.stubbed(t)
	}
	for {
		conn, ended := a.open()
		if ended != nil {
			return nil, ended
		}
		resp, ended := a.exchange(conn)
		if ended != nil {
			return nil, ended
		}
		if resp != nil {
			a.body = body{a: a, conn: conn, resp: resp, most: t.maxBody}
			return &a.body, nil
		}
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}
