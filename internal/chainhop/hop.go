package chainhop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/deadline"
	"chaoslab/faults"
)

// HeaderHops has the mark of every hop that a request has come through, the
// first first, with blanks between them.
const HeaderHops = "X-Chain-Hops"

// maxMarks is how long a chain may be.
const maxMarks = 64

// hop is one listener's chain fault.
type hop struct {
	config
	mark    string
	workers *faults.Workers

	mu     sync.Mutex
	caller *budgetcaller.Caller // made for the first request that needs it
	using  int                  // requests that call by it
	closed bool
}

func newHop(cfg config) *hop {
	var mark [6]byte
	_, _ = rand.Read(mark[:]) // it never fails
	return &hop{config: cfg, mark: hex.EncodeToString(mark[:]), workers: faults.NewWorkers(cfg.workers)}
}

// close lets go of the connections, once the last request is done with them.
func (h *hop) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.closeIfDone()
}

func (h *hop) closeIfDone() {
	if h.closed && h.using == 0 && h.caller != nil {
		h.caller.Close()
		h.caller = nil
	}
}

// borrow returns the caller; release must follow.
func (h *hop) borrow() (*budgetcaller.Caller, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.caller == nil {
		c, err := h.newCaller()
		if err != nil {
			return nil, err
		}
		h.caller = c
	}
	h.using++
	return h.caller, nil
}

func (h *hop) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.using--
	h.closeIfDone()
}

func (h *hop) newCaller() (*budgetcaller.Caller, error) {
	// The library knows no retry without a wait. The whole milliseconds of a
	// wait of less than one are none.
	wait := backoff.Config{Base: time.Millisecond, Cap: time.Millisecond}
	if h.backoff > 0 {
		wait = backoff.Config{Base: h.backoff, Cap: h.backoffCap, Jitter: backoff.None}
	}
	return budgetcaller.New(budgetcaller.Config{
		MaxConnsPerHost: min(h.config.workers*max(1, h.parallel), maxWorkers),
		Default: budgetcaller.Dependency{
			Name:         "next hop " + h.next.Host,
			Limits:       budgetcaller.Limits{Floor: h.needs, Attempt: h.perTry},
			Retry:        budgetcaller.Retry{Attempts: h.tries, Backoff: wait},
			KeepDeadline: h.policy != PolicyPass,
		},
	})
}

// serve is what happens to one request.
func (h *hop) serve(x *faults.Exchange) {
	if why := h.circle(x.Request().Header); why != "" {
		x.Fail(http.StatusLoopDetected, why)
		return
	}
	ctx, cancel, err := h.begin(x)
	if err != nil {
		x.Fail(http.StatusGatewayTimeout, "deadline already over")
		return
	}
	defer cancel()
	h.workers.Do(x, h.heeds, func() { h.work(ctx, x) })
}

// circle says why a request is refused that has been here before.
func (h *hop) circle(head http.Header) string {
	marks := strings.Fields(strings.Join(head[HeaderHops], " "))
	if len(marks) >= maxMarks {
		return "chain: more than 64 hops"
	}
	for _, m := range marks {
		if m == h.mark {
			return "chain: it calls itself in a circle: this request has been here before; look at the next= of its hops"
		}
	}
	return ""
}

// begin returns the context of a request with the deadline that the policy gives
// it.
func (h *hop) begin(x *faults.Exchange) (context.Context, context.CancelFunc, error) {
	switch h.policy {
	case PolicyNone:
		// Nothing hangs for ever here, and nobody will wait for so long.
		return budgetcaller.Begin(context.Background(), faults.MaxDelay)
	case PolicyEach:
		ctx, cancel := context.WithDeadline(context.Background(), x.Arrived().Add(h.budget))
		return ctx, cancel, nil
	}
	ctx, cancel, _, err := deadline.Begin(context.Background(), deadline.ValuesOf(x.Request().Header), x.Arrived(), deadline.Config{Cap: h.budget})
	return ctx, cancel, err
}

// work does the hop's own work, if that and a try can still be done in time, and
// calls the next.
func (h *hop) work(ctx context.Context, x *faults.Exchange) {
	calls := h.next != nil && (h.skip == "" || !strings.HasPrefix(x.Request().URL.Path, h.skip))
	own, status := x.Draw(h.config.work), http.StatusOK
	needs := own
	if calls {
		needs += h.needs
	}
	scripted := h.script != nil && !calls
	if scripted {
		own, status = h.script(wayOf(x.Request().Header))
	}
	if scripted || h.perTry > 0 {
		needs = h.needs
	}
	if left, bounded := budgetcaller.Left(ctx); bounded && left < needs {
		x.Fail(http.StatusGatewayTimeout, "not begun: "+left.Round(time.Millisecond).String()+" left, it needs "+needs.String())
		return
	}
	until, _ := ctx.Deadline()
	if !x.LaborWithin(own, until, h.heeds) {
		x.Fail(http.StatusGatewayTimeout, "given up: its deadline came while it worked") // if anybody is there
		return
	}
	if !calls {
		h.answer(x, status, "it failed")
		return
	}
	text := ""
	x.During(h.heeds, func(alive context.Context) {
		ctx, cancel := merge(ctx, alive)
		defer cancel()
		status, text = h.call(ctx, x.Request())
	})
	h.answer(x, status, text)
}

func (h *hop) answer(x *faults.Exchange, status int, text string) {
	if status == http.StatusOK {
		x.Succeed()
		return
	}
	x.Fail(status, text)
}

// merge returns a with an end when b ends too.
func merge(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a)
	stop := context.AfterFunc(b, cancel)
	return ctx, func() { stop(); cancel() }
}
