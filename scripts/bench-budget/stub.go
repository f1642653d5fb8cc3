package main

import (
	"context"
	"io"
	"net/http"
	"testing"
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

func stubCalls(rounds int) error {
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
	race(rounds, "plain http.Client", []contestant{
		{"plain http.Client", func(b *testing.B) { clientCalls(b, &http.Client{Transport: stub{}}, url) }},
		{"failsafe timeout+retry+breaker", func(b *testing.B) { clientCalls(b, &http.Client{Transport: safe}, url) }},
		{"budgetcaller.Do", func(b *testing.B) { ourCalls(b, ours, url) }},
	})
	return nil
}

func clientCalls(b *testing.B, c *http.Client, url string) {
	b.ReportAllocs()
	for b.Loop() {
		if err := clientCall(c, url); err != nil {
			b.Fatal(err)
		}
	}
}

func clientCall(c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
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

func ourCalls(b *testing.B, c *budgetcaller.Caller, url string) {
	b.ReportAllocs()
	for b.Loop() {
		if err := ourCall(c, url, 2*time.Second); err != nil {
			b.Fatal(err)
		}
	}
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
