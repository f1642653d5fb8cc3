package faults

import (
	"context"
	"net/http"
	"time"
)

// Custom returns f with a behaviour that stands outside this package, for
// Modes.With. It acts on requests; build makes it out of checked parameters, for
// each listener afresh, and must hold nothing before the first request, since it
// is also called to check parameters.
//
// A custom fault may reach further than the ones of this package, so it cannot
// be chosen by a request.
func Custom(f Fault, build func(Args) (Custody, error)) Fault {
	f.acts = true
	f.build = func(a args) (behavior, error) {
		c, err := build(Args{a})
		return behavior{request: c.Serve, custom: true, close: c.Close}, err
	}
	return f
}

// Custody is what a custom fault does, and what it holds.
type Custody struct {
	Serve func(*Exchange) // once the request is whole
	// Close, if set, is called once no further request is to come; some may
	// still be under way, unless the partner has been shut down.
	Close func()
}

// Args are the checked parameters of a custom fault. A name that the fault does
// not list, or of another kind, reads as the zero value.
type Args struct{ args args }

// Args returns the parameters that s was parsed with.
func (s Spec) Args() Args { return Args{s.whole().args} }

// Duration returns a parameter of KindDuration.
func (a Args) Duration(name string) time.Duration { return a.args.duration(name) }

// Int returns a parameter of KindInt.
func (a Args) Int(name string) int64 { return a.args.int(name) }

// Text returns a parameter of KindWord or KindText.
func (a Args) Text(name string) string { return a.args.word(name) }

// Shape returns a parameter of KindShape.
func (a Args) Shape(name string) Shape { return a.args.shape(name) }

// Request returns the request. Its body has been read and thrown away.
func (x *Exchange) Request() *http.Request { return x.req }

// Arrived returns when the first byte of the request came.
func (x *Exchange) Arrived() time.Time { return x.c.p.base.Add(time.Duration(x.e.begun)) }

// Draw draws a delay from s, a function of the seed and the request's number.
func (x *Exchange) Draw(s Shape) time.Duration { return x.draw(s) }

// Labor is Work counted from now on, for what had to wait before it.
func (x *Exchange) Labor(d time.Duration) bool { return x.labor(d, false) }

// LaborWithin is Labor that ends early at until, if that is not zero, and when
// the client leaves, if heedLeaving is set. It says whether all was done.
func (x *Exchange) LaborWithin(d time.Duration, until time.Time, heedLeaving bool) bool {
	most := d
	if !until.IsZero() {
		most = min(d, max(0, time.Until(until)))
	}
	return x.labor(most, heedLeaving) && most == d
}

// During calls f with a context that ends when the partner shuts down and, if
// heedLeaving is set, when the client leaves.
func (x *Exchange) During(heedLeaving bool, f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	gone := x.look(watchKeep)
	if !heedLeaving {
		gone = nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-gone:
		case <-x.c.p.stopping:
		case <-ctx.Done():
		}
		cancel()
	}()
	defer func() {
		cancel()
		<-done
		if x.c.p.isStopping() {
			x.end = ending{kind: endRST, how: stopped}
		}
	}()
	f(ctx)
}

// Succeed answers with 200. The effect takes place with it.
func (x *Exchange) Succeed() { x.reply(answer{status: http.StatusOK, size: defaultSize}) }

// Fail answers with an error status and one line of text. Nothing takes place.
func (x *Exchange) Fail(status int, text string) {
	if x.isEnding() {
		return
	}
	text = clip(text, maxFailText) + "\n"
	x.writeHead(answer{status: status, size: int64(len(text)), kind: "text/plain; charset=utf-8", noEffect: true})
	if x.req.Method != http.MethodHead {
		x.buf = append(x.buf, text...)
		x.e.bytes = int64(len(text))
	}
	x.flush()
}

// maxFailText bounds the text of an error.
const maxFailText = 1 << 10

func (x *Exchange) reply(a answer) {
	if !x.isEnding() {
		x.answer(a)
	}
}

// isEnding says whether the exchange is to end without an answer, as when the
// partner shuts down.
func (x *Exchange) isEnding() bool { return x.end.kind != endAnswer }

// Workers bounds how many requests are worked on at once; the others wait, first
// come, first served. It is safe for concurrent use.
type Workers struct{ line *line }

// NewWorkers returns n workers, at least one.
func NewWorkers(n int) *Workers { return &Workers{newLine(max(1, n), 0, Shape{})} }

// Do calls f once there is a worker for x, and frees it afterwards. If the
// client leaves first and heedLeaving is set, or the partner shuts down, f is
// not called. All the time of f counts as work in the ledger's account of what
// was done after the client had left.
func (w *Workers) Do(x *Exchange, heedLeaving bool, f func()) {
	x.staged = true
	t, _ := w.line.enter(true)
	defer w.line.leave(t)
	turn := x.await(t, 0, heedLeaving)
	now := x.c.p.clock.now()
	x.e.waited = now - x.e.whole
	if turn != itsTurn {
		return
	}
	x.workFrom = now
	f()
	x.workTo = x.c.p.clock.now()
}
