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

// expiries lets many budgets of the same length run out together, and beside
// them, in turn, as many bare timers: how late those are is the machine's own.
func expiries(m meter) error {
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hang.Close()
	onStub, err := budgetcaller.New(budgetcaller.Config{Stub: never{}})
	if err != nil {
		return err
	}
	defer onStub.Close()
	// A machine that does other things may need longer than the default to make
	// a thousand connections at once.
	onWire, err := budgetcaller.New(budgetcaller.Config{
		MaxConnsPerHost: 1000, Limits: budgetcaller.Limits{Connect: budgetcaller.NoLimit},
	})
	if err != nil {
		return err
	}
	defer onWire.Close()
	all := []struct {
		name string
		n    int
		call func(budget time.Duration) error
		got  []lateness
	}{
		{name: "10000 bare context timers", n: 10000, call: bareTimer},
		{name: "10000 on a stub", n: 10000, call: exhausted(onStub, "http://price.test/")},
		{name: "1000 over loopback", n: 1000, call: exhausted(onWire, hang.URL)},
	}
	for range min(m.rounds, 10) {
		for i := range all {
			c := &all[i]
			late, err := together(c.n, c.call)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.got = append(c.got, lateness{quantile(late, 0.5), quantile(late, 0.99)})
		}
	}
	fmt.Printf("  %-34s %9s %9s %13s\n", "", "p50 ms", "p99 ms", "p99 × timers")
	for _, c := range all {
		p99 := lateAt(c.got, func(l lateness) float64 { return l.p99 })
		bare := lateAt(all[0].got, func(l lateness) float64 { return l.p99 })
		fmt.Printf("  %-34s %9.1f %9.1f %13.2f\n", c.name, lateAt(c.got, func(l lateness) float64 { return l.p50 }), p99, p99/bare)
	}
	return nil
}

// lateness is how late many timers were in one round, in milliseconds.
type lateness struct{ p50, p99 float64 }

func lateAt(rounds []lateness, of func(lateness) float64) float64 {
	v := make([]float64, 0, len(rounds))
	for _, l := range rounds {
		v = append(v, of(l))
	}
	return quantile(v, 0.5)
}

func exhausted(c *budgetcaller.Caller, url string) func(time.Duration) error {
	return func(budget time.Duration) error {
		if err := ourCall(c, url, budget); !errors.Is(err, budgetcaller.ErrBudgetExhausted) {
			return fmt.Errorf("%w, want an exhausted budget", err)
		}
		return nil
	}
}

func bareTimer(d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	<-ctx.Done()
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
