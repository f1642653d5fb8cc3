package chainhop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
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
		MaxConnsPerHost: h.config.workers,
		Default: budgetcaller.Dependency{
			Name:         "next hop " + h.next.Host,
			Limits:       budgetcaller.Limits{Floor: h.needs},
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
	h.workers.Do(x, h.policy == PolicyPass, func() { h.work(ctx, x) })
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
	own := x.Draw(h.config.work)
	needs := own
	calls := h.next != nil && (h.skip == "" || !strings.HasPrefix(x.Request().URL.Path, h.skip))
	if calls {
		needs += h.needs
	}
	if left, bounded := budgetcaller.Left(ctx); bounded && left < needs {
		x.Fail(http.StatusGatewayTimeout, "not begun: "+left.Round(time.Millisecond).String()+" left, it needs "+needs.String())
		return
	}
	if !x.Labor(own) {
		return
	}
	if !calls {
		x.Succeed()
		return
	}
	status, text := 0, ""
	x.During(h.policy == PolicyPass, func(alive context.Context) {
		ctx, cancel := merge(ctx, alive)
		defer cancel()
		status, text = h.call(ctx, x.Request())
	})
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

// call calls the next hop for the request in and returns what is to be answered.
func (h *hop) call(ctx context.Context, in *http.Request) (status int, text string) {
	caller, err := h.borrow()
	if err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	defer h.release()
	req := (&http.Request{Method: in.Method, URL: h.next, Host: h.next.Host, Header: http.Header{}}).WithContext(ctx)
	req.Header.Set(HeaderHops, strings.Join(append(in.Header[HeaderHops], h.mark), " "))
	if key := in.Header.Get("Idempotency-Key"); key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return outcome(caller.Do(ctx, req))
}

// outcome is the answer to a call whose own call to the next hop ended so. What
// the next hop takes for final is final here too.
func outcome(answer *budgetcaller.Answer, err error) (status int, text string) {
	var failed *budgetcaller.Error
	switch {
	case errors.As(err, &failed):
		switch failed.Class {
		case budgetcaller.ClassBudgetExhausted, budgetcaller.ClassBelowFloor:
			return http.StatusGatewayTimeout, failed.Error()
		}
		return http.StatusBadGateway, failed.Error()
	case err != nil:
		return http.StatusBadGateway, err.Error()
	case answer.OK():
		return http.StatusOK, ""
	}
	text = fmt.Sprintf("next hop: status %d, %s", answer.Status, answer.Why)
	switch answer.Status {
	case http.StatusLoopDetected:
		line, _, _ := strings.Cut(string(answer.Body), "\n")
		return answer.Status, line
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return http.StatusBadGateway, text
	}
	return http.StatusInternalServerError, text
}
