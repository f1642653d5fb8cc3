// A circuit breaker: closed, open, half-open; it judges after a result, never
// before enough of them.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

type state int

const (
	closed state = iota
	open
	halfOpen
)

type breaker struct {
	minimum, rate, probes int
	wait                  time.Duration

	state   state
	results []bool // true: failed
	opened  time.Time
}

// admit says whether a call may be sent now.
func (b *breaker) admit(now time.Time) bool {
	if b.state != open {
		return true
	}
	if now.Sub(b.opened) < b.wait {
		return false
	}
	b.state, b.results = halfOpen, nil
	return true
}

// record takes the result of a call that was admitted.
func (b *breaker) record(failed bool, now time.Time) {
	need := b.minimum
	if b.state == halfOpen {
		need = b.probes
	}
	b.results = append(b.results, failed)
	b.results = b.results[max(0, len(b.results)-need):]
	if len(b.results) < need {
		return
	}
	bad := 0
	for _, f := range b.results {
		if f {
			bad++
		}
	}
	switch {
	case bad*100 >= b.rate*need:
		b.state, b.opened, b.results = open, now, nil
	case b.state == halfOpen:
		b.state, b.results = closed, nil
	}
}

func main() {
	b := &breaker{minimum: env("LAB_MIN_CALLS"), rate: env("LAB_RATE"), probes: env("LAB_PROBES"), wait: ms("LAB_OPEN_MS")}
	client := &http.Client{Timeout: ms("LAB_READ_MS"), Transport: &http.Transport{DisableKeepAlives: true}}
	calls := env("LAB_CALLS")
	count := map[string]int{}
	start := time.Now()
	for i := range calls {
		<-time.After(time.Until(start.Add(time.Duration(i) * ms("LAB_EVERY_MS"))))
		if !b.admit(time.Now()) {
			count["open"]++
			continue
		}
		failed := fails(client)
		b.record(failed, time.Now())
		if failed {
			count["failed"]++
		} else {
			count["ok"]++
		}
	}
	fmt.Printf("{\"calls\":%d,\"ok\":%d,\"failed\":%d,\"open\":%d}\n", calls, count["ok"], count["failed"], count["open"])
}

func fails(client *http.Client) bool {
	resp, err := client.Get(os.Getenv("LAB_URL"))
	if err != nil {
		return true
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err != nil || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
}

func ms(name string) time.Duration { return time.Duration(env(name)) * time.Millisecond }

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
