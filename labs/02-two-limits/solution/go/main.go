// One call under a limit on silence and a budget for all of it.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	word, n, err := call(limit("LAB_READ_MS"), limit("LAB_BUDGET_MS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Printf("{\"class\":%q,\"bytes\":%d}\n", word, n)
}

func call(read, budget time.Duration) (word string, n int64, err error) {
	end := time.Now().Add(budget)
	req, err := http.NewRequest(http.MethodGet, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return "failed", 0, err
	}
	req.Close = true
	tcp, err := net.DialTimeout("tcp", req.URL.Host, budget)
	if err != nil {
		return "failed", 0, err
	}
	defer tcp.Close()
	conn := &limited{Conn: tcp, read: read, end: end}
	if err := req.Write(conn); err != nil {
		return "failed", 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err == nil {
		n, err = io.Copy(io.Discard, resp.Body)
	}
	// Not by err: a head that a timeout cut short reads as a malformed one.
	switch {
	case err == nil:
		return "ok", n, nil
	case conn.timedOut && conn.byBudget:
		return "budget_exhausted", n, err
	case conn.timedOut:
		return "read_timeout", n, err
	}
	return "truncated", n, err
}

// limited is a connection on which each read may wait for the partner's silence,
// or for what is left, whichever is less.
type limited struct {
	net.Conn
	read     time.Duration
	end      time.Time
	byBudget bool // which of the two was the less
	timedOut bool // it ended the call
}

func (l *limited) Read(b []byte) (int, error) {
	until := time.Now().Add(l.read)
	if l.byBudget = !until.Before(l.end); l.byBudget {
		until = l.end
	}
	if err := l.SetReadDeadline(until); err != nil {
		return 0, err
	}
	n, err := l.Conn.Read(b)
	l.timedOut = errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

func limit(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name) + "ms")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return d
}
