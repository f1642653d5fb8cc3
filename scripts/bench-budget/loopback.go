package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"chaoslab/budgetcaller"
)

const atOnce = 32

func loopback(m meter) error {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	defer srv.Close()
	ours, err := budgetcaller.New(budgetcaller.Config{})
	if err != nil {
		return err
	}
	defer ours.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	plain := &http.Client{Transport: transport, Timeout: 2 * time.Second}
	return m.race([]contestant{
		{"http.Client", atOnce, client(plain, srv.URL)},
		{"http.Client again", atOnce, client(plain, srv.URL)},
		{"budgetcaller.Do", atOnce, library(ours, srv.URL)},
	})
}

// never answers.
type never struct{}

func (never) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// expiries lets many budgets of the same length run out together.
func expiries(m meter) error {
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hang.Close()
	fmt.Printf("  %-34s %12s %10s\n", "", "p50 ms", "p99 ms")
	for _, c := range []struct {
		name string
		n    int
		cfg  budgetcaller.Config
		url  string
	}{
		{"10000 on a stub", 10000, budgetcaller.Config{Stub: never{}}, "http://price.test/"},
		{"1000 over loopback", 1000, budgetcaller.Config{MaxConnsPerHost: 1000}, hang.URL},
	} {
		caller, err := budgetcaller.New(c.cfg)
		if err != nil {
			return err
		}
		var p50, p99 []float64
		for range min(m.rounds, 10) {
			late, err := together(c.n, func(budget time.Duration) error {
				err := ourCall(caller, c.url, budget)
				if !errors.Is(err, budgetcaller.ErrBudgetExhausted) {
					return fmt.Errorf("%s: %w, want an exhausted budget", c.name, err)
				}
				return nil
			})
			if err != nil {
				return err
			}
			p50, p99 = append(p50, quantile(late, 0.5)), append(p99, quantile(late, 0.99))
		}
		caller.Close()
		fmt.Printf("  %-34s %12.1f %10.1f\n", c.name, quantile(p50, 0.5), quantile(p99, 0.5))
	}
	var p50, p99 []float64
	for range min(m.rounds, 10) {
		late, err := together(10000, func(budget time.Duration) error {
			ctx, cancel := context.WithTimeout(context.Background(), budget)
			defer cancel()
			<-ctx.Done()
			return nil
		})
		if err != nil {
			return err
		}
		p50, p99 = append(p50, quantile(late, 0.5)), append(p99, quantile(late, 0.99))
	}
	fmt.Printf("  %-34s %12.1f %10.1f\n", "10000 bare context timers", quantile(p50, 0.5), quantile(p99, 0.5))
	return nil
}

// together starts n calls whose budgets end at one moment, and returns by how
// many milliseconds each was late.
func together(n int, call func(budget time.Duration) error) ([]float64, error) {
	until := time.Now().Add(3 * time.Second) // all have begun long before
	late := make([]float64, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			errs[i] = call(time.Until(until))
			late[i] = float64(time.Since(until).Microseconds()) / 1000
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err // one tells enough
		}
	}
	return late, nil
}
