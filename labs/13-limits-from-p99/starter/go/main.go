// A limit from measured times. See TASK.md.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	calls, err := strconv.Atoi(os.Getenv("LAB_CALLS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	client := http.Client{Timeout: time.Second}
	start := time.Now()
	for range calls {
		if resp, err := client.Get(os.Getenv("LAB_URL")); err == nil {
			_ = resp.Body.Close()
		}
	}
	// The mean says what is usual. Is that what a limit is for?
	mean := float64(time.Since(start).Milliseconds()) / float64(calls)
	fmt.Printf("{\"n\":%d,\"failed\":0,\"p99_ms\":%.1f,\"limit_ms\":5000,\"reason\":\"felt right\"}\n", calls, mean)
}
