package storm

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"chaoslab/budgetcaller"
)

// hop is a service with few workers. Each request holds one of them; those to
// needsPath call the partner meanwhile. Like many services it works on for a
// client that has left, but a request that still waits for a worker goes when
// its client does.
type hop struct {
	workers chan struct{}
	partner *http.Request
	caller  *budgetcaller.Caller
	limit   time.Duration // of a call to the partner

	server *http.Server
	url    string
	served chan struct{}
	// Of the requests to needsPath that a worker is done with: how many, how
	// long they held it in all, and when the last ended, in nanoseconds.
	ended, held, last atomic.Int64
}

const (
	needsPath  = "/needs"
	othersPath = "/others"
)

func startHop(workers int, partner string, limit time.Duration) (*hop, error) {
	req, err := http.NewRequest(http.MethodGet, partner, nil)
	if err != nil {
		return nil, err
	}
	caller, err := budgetcaller.New(budgetcaller.Config{MaxConnsPerHost: workers})
	if err != nil {
		return nil, err
	}
	var listen net.ListenConfig
	ln, err := listen.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &hop{
		workers: make(chan struct{}, workers), partner: req, caller: caller, limit: limit,
		url: "http://" + ln.Addr().String(), served: make(chan struct{}),
	}
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: MaxWait}
	go func() {
		defer close(h.served)
		_ = h.server.Serve(ln) // ends with close
	}()
	return h, nil
}

// ServeHTTP waits for a worker and has it do the request.
func (h *hop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case h.workers <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	defer func() { <-h.workers }()
	if r.URL.Path != needsPath {
		return
	}
	begun := time.Now()
	status := h.ask(context.WithoutCancel(r.Context()))
	h.ended.Add(1)
	h.held.Add(int64(time.Since(begun)))
	h.last.Store(time.Now().UnixNano())
	w.WriteHeader(status)
}

// ask calls the partner.
func (h *hop) ask(ctx context.Context) int {
	ctx, cancel, err := budgetcaller.Begin(ctx, h.limit)
	if err != nil {
		return http.StatusInternalServerError
	}
	defer cancel()
	if answer, err := h.caller.Do(ctx, h.partner); err != nil || !answer.OK() {
		return http.StatusGatewayTimeout
	}
	return http.StatusOK
}

// close ends the hop. The partner must have been closed before, so that nothing
// holds a worker any more.
func (h *hop) close() {
	_ = h.server.Close()
	<-h.served
	for range cap(h.workers) {
		h.workers <- struct{}{}
	}
	h.caller.Close()
}
