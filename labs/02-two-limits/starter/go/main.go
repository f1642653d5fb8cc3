// One call under two limits. See TASK.md.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	ms, err := time.ParseDuration(os.Getenv("LAB_READ_MS") + "ms")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	word, n := call(ms)
	fmt.Printf("{\"class\":%q,\"bytes\":%d}\n", word, n)
}

func call(read time.Duration) (string, int64) {
	// What does this timeout bound? And where is the budget?
	client := http.Client{Timeout: read}
	resp, err := client.Get(os.Getenv("LAB_URL"))
	if err != nil {
		return "read_timeout", 0
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		return "read_timeout", n
	}
	return "ok", n
}
