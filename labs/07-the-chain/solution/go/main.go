// One hop of a chain: the time it was given, less what it took, is what it passes
// on.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

const header = "X-Request-Timeout-Ms"

func main() {
	h := &hop{policy: os.Getenv("LAB_POLICY"), next: os.Getenv("LAB_URL"), tries: env("LAB_TRIES"), cost: ms("LAB_COST_MS"), budget: ms("LAB_BUDGET_MS")}
	h.client.Transport = &http.Transport{DisableKeepAlives: true}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("ready http://%s/\n", ln.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(ln, h))
}

type hop struct {
	policy, next string
	tries        int
	cost, budget time.Duration
	client       http.Client
}

func (h *hop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(h.work(r))
}

func (h *hop) work(r *http.Request) int {
	told := h.told(r.Header.Values(header))
	if told <= 0 {
		return http.StatusGatewayTimeout
	}
	// Only who passes the deadline down may stop when its caller has gone: the
	// others go on, as most servers do.
	base := context.Background()
	if h.policy == "pass" {
		base = r.Context()
	}
	ctx, cancel := context.WithTimeout(base, told)
	defer cancel()
	for range h.tries {
		deadline, _ := ctx.Deadline()
		if time.Until(deadline) < h.cost {
			return http.StatusGatewayTimeout
		}
		status, err := h.try(ctx, time.Until(deadline))
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return http.StatusGatewayTimeout
		case err == nil && status < 400:
			return http.StatusOK
		}
	}
	return http.StatusBadGateway
}

// told is the time that the request leaves us. Our own cap holds always.
func (h *hop) told(values []string) time.Duration {
	switch {
	case h.policy == "none":
		return time.Hour
	case h.policy == "each" || len(values) != 1 || len(values[0]) > 9:
		return h.budget
	}
	n, err := strconv.Atoi(values[0])
	if err != nil {
		return h.budget
	}
	return min(time.Duration(n)*time.Millisecond, h.budget)
}

func (h *hop) try(ctx context.Context, left time.Duration) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.next, nil)
	if err != nil {
		return 0, err
	}
	if h.policy == "pass" {
		req.Header.Set(header, strconv.FormatInt(left.Milliseconds(), 10))
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func ms(name string) time.Duration { return time.Duration(env(name)) * time.Millisecond }

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
