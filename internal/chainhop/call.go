package chainhop

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chaoslab/budgetcaller"
)

// HeaderWay has the way by which a call of a scripted chain came, up to the hop
// that sent it and which of its calls at once it is. Which try it is stands in
// budgetcaller.HeaderAttempt.
const HeaderWay = "X-Chain-Way"

// wayOf returns the way of the request with that head; empty for the entry's.
func wayOf(head http.Header) string {
	if way := head.Get(HeaderWay); way != "" {
		return way + "." + head.Get(budgetcaller.HeaderAttempt)
	}
	return ""
}

// reply is what is to be answered.
type reply struct {
	status int
	text   string
}

// call calls the next hop for the request in, so often at once as is set, and
// returns what is to be answered: the first failure, with which the others are
// let go.
func (h *hop) call(ctx context.Context, in *http.Request) (status int, text string) {
	caller, err := h.borrow()
	if err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	defer h.release()
	if h.parallel <= 1 {
		r := h.callOnce(ctx, caller, in, 1)
		return r.status, r.text
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	replies := make(chan reply, h.parallel)
	for i := range h.parallel {
		go func() { replies <- h.callOnce(ctx, caller, in, i+1) }()
	}
	first := reply{status: http.StatusOK}
	for range h.parallel {
		if r := <-replies; r.status != http.StatusOK && first.status == http.StatusOK {
			first = r
			cancel()
		}
	}
	return first.status, first.text
}

// callOnce is one of the calls at once.
func (h *hop) callOnce(ctx context.Context, caller *budgetcaller.Caller, in *http.Request, branch int) reply {
	req := (&http.Request{Method: in.Method, URL: h.next, Host: h.next.Host, Header: http.Header{}}).WithContext(ctx)
	req.Header.Set(HeaderHops, strings.Join(append(slices.Clone(in.Header[HeaderHops]), h.mark), " "))
	if key := in.Header.Get("Idempotency-Key"); key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if h.script != nil {
		req.Header.Set(HeaderWay, wayOf(in.Header)+"/"+strconv.Itoa(branch))
	}
	status, text := outcome(caller.Do(ctx, req))
	return reply{status, text}
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
