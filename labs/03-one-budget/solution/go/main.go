// Three calls under one budget: everything follows from the one moment at which
// it ends, which the context carries.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), limit("LAB_BUDGET_MS"))
	defer cancel()
	s := screen{wait: limit("LAB_WAIT_MS")}
	s.client.Transport = &http.Transport{DisableKeepAlives: true}
	floor := limit("LAB_FLOOR_MS")
	a := s.call(ctx, os.Getenv("LAB_URL_A"), floor)
	b := s.call(ctx, os.Getenv("LAB_URL_B"), floor)
	c := s.call(ctx, os.Getenv("LAB_URL_C"), limit("LAB_FLOOR_C_MS"))
	fmt.Printf("{\"a\":%q,\"b\":%q,\"c\":%q}\n", a, b, c)
}

type screen struct {
	client http.Client
	wait   time.Duration
}

func (s *screen) call(ctx context.Context, url string, floor time.Duration) string {
	for try := 1; ; try++ {
		if left(ctx) < floor {
			return "below_floor"
		}
		status, err := s.attempt(ctx, url)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return "budget_exhausted"
		case err == nil && status < 400:
			return "ok"
		case err != nil || status != http.StatusServiceUnavailable || try == 2:
			return "failed"
		case left(ctx)-s.wait < floor:
			return "below_floor"
		}
		select {
		case <-time.After(s.wait):
		case <-ctx.Done():
			return "budget_exhausted"
		}
	}
}

func (s *screen) attempt(ctx context.Context, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	deadline, _ := ctx.Deadline()
	req.Header.Set("X-Request-Timeout-Ms", strconv.FormatInt(left(ctx).Milliseconds(), 10))
	req.Header.Set("X-Request-Deadline", strconv.FormatInt(deadline.UnixMilli(), 10))
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func left(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return time.Until(deadline)
}

func limit(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name) + "ms")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return d
}
