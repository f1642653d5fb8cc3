// One hop of a chain. See TASK.md.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
)

func main() {
	tries, err := strconv.Atoi(os.Getenv("LAB_TRIES"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("ready http://%s/\n", ln.Addr())
	err = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range tries {
			// However long it takes, and whoever still waits for it.
			if resp, err := http.Get(os.Getenv("LAB_URL")); err == nil {
				_ = resp.Body.Close()
				if resp.StatusCode < 400 {
					return
				}
			}
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	fmt.Fprintln(os.Stderr, err)
}
