// Three calls for one page: at once, under one end, and what is missing is named.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

type part struct {
	name  string
	bytes int64
	err   error
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), ms("LAB_BUDGET_MS")-ms("LAB_RESERVE_MS"))
	names := []string{"order", "recommendations", "reviews"}
	parts := make(chan part, len(names))
	for _, name := range names {
		go func() { parts <- fetch(ctx, name) }()
	}
	page := map[string]any{}
	degraded := []string{}
	for range names {
		p := <-parts
		switch {
		case p.err != nil && p.name == "order":
			cancel()
			fmt.Println(`{"error":"order"}`)
			return
		case p.err != nil:
			page[p.name] = nil
			degraded = append(degraded, p.name)
		default:
			page[p.name] = map[string]int64{"bytes": p.bytes}
		}
	}
	cancel()
	slices.Sort(degraded)
	page["degraded"] = degraded
	text, err := json.Marshal(page)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

func fetch(ctx context.Context, name string) part {
	p := part{name: name}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("LAB_URL_"+strings.ToUpper(name)), nil)
	if err != nil {
		p.err = err
		return p
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.err = err
		return p
	}
	defer resp.Body.Close()
	if p.bytes, p.err = io.Copy(io.Discard, resp.Body); p.err == nil && resp.StatusCode >= 400 {
		p.err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return p
}

func ms(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name) + "ms")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return d
}
