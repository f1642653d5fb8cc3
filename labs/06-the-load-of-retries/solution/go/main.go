// Retries out of a bucket that the calls fill, and a bulkhead before the workers.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	p := &partner{read: time.Duration(env("LAB_READ_MS")) * time.Millisecond}
	p.client.Transport = &http.Transport{DisableKeepAlives: true}
	if os.Getenv("LAB_MODE") == "serve" {
		serve(p)
		return
	}
	// Tokens in hundredths, so that nothing is rounded.
	full := env("LAB_BURST") * 100
	tokens, ok, calls := full, 0, env("LAB_CALLS")
	for range calls {
		tokens = min(full, tokens+env("LAB_PERCENT"))
		for try := range env("LAB_TRIES") {
			if try > 0 {
				if tokens < 100 {
					break
				}
				tokens -= 100
			}
			if p.ask(context.Background()) {
				ok++
				break
			}
		}
	}
	fmt.Printf("{\"ok\":%d,\"failed\":%d}\n", ok, calls-ok)
}

func serve(p *partner) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workers := make(chan struct{}, env("LAB_WORKERS"))
	slow := make(chan struct{}, env("LAB_SLOW"))
	fmt.Printf("ready http://%s/\n", ln.Addr())
	err = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case slow <- struct{}{}:
				defer func() { <-slow }()
			default: // who finds the compartment full never waits for a worker
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		}
		workers <- struct{}{}
		defer func() { <-workers }()
		if r.URL.Path == "/slow" && !p.ask(r.Context()) {
			w.WriteHeader(http.StatusGatewayTimeout)
		}
	}))
	fmt.Fprintln(os.Stderr, err)
}

type partner struct {
	client http.Client
	read   time.Duration
}

// ask says whether a whole answer below 500 came within the limit.
func (p *partner) ask(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, p.read)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return false
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode < 500
}

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
