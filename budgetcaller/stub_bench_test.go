package budgetcaller

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"chaoslab/budgetcaller/breaker"
)

type stub struct{}

func (stub) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func BenchmarkStub(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		c := &http.Client{Transport: stub{}}
		b.ReportAllocs()
		for b.Loop() {
			req, _ := http.NewRequestWithContext(context.Background(), "GET", "http://price.test/", nil)
			resp, err := c.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
	b.Run("budget", func(b *testing.B) {
		c := newCaller(b, Config{Stub: stub{}, Default: Dependency{
			Limits: Limits{Attempt: time.Second}, Retry: Retry{Attempts: 3}, Breaker: &breaker.Config{},
		}})
		b.ReportAllocs()
		for b.Loop() {
			ctx, cancel, err := Begin(context.Background(), 2*time.Second)
			if err != nil {
				b.Fatal(err)
			}
			req, _ := http.NewRequest("GET", "http://price.test/", nil)
			if _, err := c.Do(ctx, req); err != nil {
				b.Fatal(err)
			}
			cancel()
		}
	})
}
