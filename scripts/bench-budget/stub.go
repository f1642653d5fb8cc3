package main

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/breaker"
)

// stub answers at once.
type stub struct{}

func (stub) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}

func stubCalls(m meter) error {
	ours, err := budgetcaller.New(budgetcaller.Config{Stub: stub{}, Default: budgetcaller.Dependency{
		Limits:  budgetcaller.Limits{Attempt: time.Second},
		Retry:   budgetcaller.Retry{Attempts: 3},
		Breaker: &breaker.Config{},
	}})
	if err != nil {
		return err
	}
	defer ours.Close()
	safe := failsafehttp.NewRoundTripper(stub{},
		failsafe.Policy[*http.Response](retrypolicy.NewBuilder[*http.Response]().WithMaxAttempts(3).Build()),
		circuitbreaker.NewBuilder[*http.Response]().Build(),
		timeout.New[*http.Response](time.Second))
	const url = "http://price.test/"
	return m.race([]contestant{
		{"plain http.Client", 1, client(&http.Client{Transport: stub{}}, url)},
		{"failsafe timeout+retry+breaker", 1, client(&http.Client{Transport: safe}, url)},
		{"budgetcaller.Do", 1, library(ours, url)},
		{"budgetcaller RoundTripper, Begin", 1, begun(&http.Client{Transport: ours.RoundTripper()}, url)},
		{"budgetcaller RoundTripper, Timeout", 1, client(&http.Client{Transport: ours.RoundTripper(), Timeout: 2 * time.Second}, url)},
		{"failsafe under a Client.Timeout", 1, client(&http.Client{Transport: safe, Timeout: 2 * time.Second}, url)},
	})
}

func client(c *http.Client, url string) func() (func(int) error, error) {
	return func() (func(int) error, error) {
		return func(int) error { return clientCall(context.Background(), c, url) }, nil
	}
}

// begun is client with a budget begun for each call.
func begun(c *http.Client, url string) func() (func(int) error, error) {
	return func() (func(int) error, error) {
		return func(int) error {
			ctx, cancel, err := budgetcaller.Begin(context.Background(), 2*time.Second)
			if err != nil {
				return err
			}
			defer cancel()
			return clientCall(ctx, c, url)
		}, nil
	}
}

func library(c *budgetcaller.Caller, url string) func() (func(int) error, error) {
	return func() (func(int) error, error) {
		return func(int) error { return ourCall(c, url, 2*time.Second) }, nil
	}
}

func clientCall(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func ourCall(c *budgetcaller.Caller, url string, budget time.Duration) error {
	ctx, cancel, err := budgetcaller.Begin(context.Background(), budget)
	if err != nil {
		return err
	}
	defer cancel()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, req)
	return err
}
