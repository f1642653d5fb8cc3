// One payment, and what became of it: by where it stood when it ended.
package main

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() { fmt.Printf("{\"word\":%q}\n", pay()) }

func pay() string {
	// One key for the payment, whatever becomes of its attempts.
	key, tries := "", 1
	if os.Getenv("LAB_KEY") == "yes" {
		key, tries = rand.Text(), env("LAB_TRIES")
	}
	for {
		word := send(key)
		if tries--; word != "unknown" || tries == 0 {
			return word
		}
	}
}

func send(key string) string {
	req, err := http.NewRequest(http.MethodPost, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return "failed"
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	conn, err := net.DialTimeout("tcp", req.URL.Host, ms("LAB_CONNECT_MS"))
	if err != nil {
		return "failed" // nothing was sent
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(ms("LAB_READ_MS"))); err != nil {
		return "failed"
	}
	if err := req.Write(conn); err != nil {
		return "unknown"
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return "unknown"
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return "unknown" // half a body is no answer
	}
	switch {
	case resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusGatewayTimeout:
		return "unknown"
	case resp.StatusCode < 400:
		return "done"
	}
	return "failed"
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
