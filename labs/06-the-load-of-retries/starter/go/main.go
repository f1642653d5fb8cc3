// Retries without a throttle, a server without a bulkhead. See TASK.md.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
)

func main() {
	if os.Getenv("LAB_MODE") == "serve" {
		serve()
		return
	}
	ok, calls := 0, env("LAB_CALLS")
	for range calls {
		for range env("LAB_TRIES") {
			if ask() {
				ok++
				break
			}
		}
	}
	fmt.Printf("{\"ok\":%d,\"failed\":%d}\n", ok, calls-ok)
}

func serve() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workers := make(chan struct{}, env("LAB_WORKERS"))
	fmt.Printf("ready http://%s/\n", ln.Addr())
	err = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		workers <- struct{}{}
		defer func() { <-workers }()
		if r.URL.Path == "/slow" && !ask() {
			w.WriteHeader(http.StatusGatewayTimeout)
		}
	}))
	fmt.Fprintln(os.Stderr, err)
}

func ask() bool {
	resp, err := http.Get(os.Getenv("LAB_URL"))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode < 500
}

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
