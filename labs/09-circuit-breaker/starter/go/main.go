// Calls without a breaker. See TASK.md.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	calls, failed := env("LAB_CALLS"), 0
	client := http.Client{Timeout: time.Duration(env("LAB_READ_MS")) * time.Millisecond}
	for range calls {
		resp, err := client.Get(os.Getenv("LAB_URL"))
		if err == nil {
			_ = resp.Body.Close()
		}
		if err != nil || resp.StatusCode >= 400 {
			failed++ // and the next one all the same
		}
		<-time.After(time.Duration(env("LAB_EVERY_MS")) * time.Millisecond)
	}
	fmt.Printf("{\"calls\":%d,\"ok\":%d,\"failed\":%d,\"open\":0}\n", calls, calls-failed, failed)
}

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
