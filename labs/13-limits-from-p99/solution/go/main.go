// A limit from the p99 of good answers, with the line that says why.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"
)

type proposal struct {
	N      int      `json:"n"`
	Failed int      `json:"failed"`
	P99    *float64 `json:"p99_ms"`
	Limit  *int     `json:"limit_ms"`
	Reason string   `json:"reason"`
}

func main() {
	client := &http.Client{Timeout: time.Duration(env("LAB_CAP_MS")) * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	url := os.Getenv("LAB_URL")
	var times []float64
	var p proposal
	for range env("LAB_CALLS") {
		start := time.Now()
		if !good(client, url) {
			p.Failed++
			continue
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
	}
	slices.Sort(times)
	p.N = len(times)
	from := fmt.Sprintf("%s on %s: ", url, time.Now().Format(time.DateOnly))
	if p.N < 100 {
		p.Reason = fmt.Sprintf("%stoo few answers for a p99, n=%d", from, p.N)
	} else {
		p99 := times[int(math.Ceil(0.99*float64(p.N)))-1]
		limit := int(math.Ceil(3 * p99))
		p.P99, p.Limit = &p99, &limit
		p.Reason = fmt.Sprintf("%sp99=%.1fms, factor=3, n=%d", from, p99, p.N)
	}
	text, err := json.Marshal(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

func good(client *http.Client, url string) bool {
	resp, err := client.Get(url)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode < 400
}

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
