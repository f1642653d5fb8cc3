package budgetcaller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/breaker"
)

// A call of a service: a budget, limits, retries that are paid from the budget,
// and a breaker.
func ExampleCaller_Do() {
	answered := 0
	price := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answered++; answered == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "42")
	}))
	defer price.Close()

	caller, err := budgetcaller.New(budgetcaller.Config{
		Dependencies: []budgetcaller.Dependency{{
			Name:     "price",
			Limits:   budgetcaller.Limits{Connect: 300 * time.Millisecond, Read: time.Second},
			Expected: 50 * time.Millisecond, // its p99: with less left it is not called
			Retry:    budgetcaller.Retry{Attempts: 3, Backoff: backoff.Config{Base: 20 * time.Millisecond}},
			Breaker:  &breaker.Config{},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer caller.Close()

	ctx, cancel, err := budgetcaller.Begin(budgetcaller.Calling(context.Background(), "price"), 2*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cancel()
	req, err := http.NewRequest(http.MethodGet, price.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := caller.Do(ctx, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, attempt := range answer.Result.Attempts {
		fmt.Println(attempt.Class, attempt.Status, attempt.Effect)
	}
	fmt.Println(string(answer.Body))
	// Output:
	// status 503 answered
	// ok 200 answered
	// 42
}

// What a call that was not worth beginning says.
func ExampleError() {
	caller, err := budgetcaller.New(budgetcaller.Config{
		Dependencies: []budgetcaller.Dependency{{Name: "price", Expected: time.Hour}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer caller.Close()
	ctx, cancel, err := budgetcaller.Begin(budgetcaller.Calling(context.Background(), "price"), 2*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cancel()
	req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:9/", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = caller.Do(ctx, req)
	var e *budgetcaller.Error
	if errors.As(err, &e) {
		fmt.Println(e.Dependency, e.Class, e.Effect, len(e.Attempts), e.Timeout())
	}
	fmt.Println(errors.Is(err, budgetcaller.ErrBelowFloor))
	// Output:
	// price below_floor none 0 true
	// true
}

// A client that exists already gets the budget, the retries and the classes by
// its transport.
func ExampleCaller_RoundTripper() {
	stock := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "told how much time is left: %v", r.Header.Get("X-Request-Timeout-Ms") != "")
	}))
	defer stock.Close()
	caller, err := budgetcaller.New(budgetcaller.Config{Default: budgetcaller.Dependency{
		Retry: budgetcaller.Retry{Attempts: 2},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer caller.Close()
	client := &http.Client{Transport: caller.RoundTripper(), Timeout: 2 * time.Second}
	resp, err := client.Get(stock.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	var text [64]byte
	n, _ := resp.Body.Read(text[:])
	fmt.Println(string(text[:n]))
	// Output: told how much time is left: true
}
