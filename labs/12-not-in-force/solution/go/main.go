// Many calls over few connections, with a limit in force in every phase.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

func main() {
	pool := make(chan struct{}, env("LAB_POOL"))
	calls := env("LAB_CALLS")
	words := make(chan string, calls)
	for range calls {
		go func() { words <- call(pool) }()
	}
	count := map[string]int{"ok": 0, "status": 0, "pool_timeout": 0, "connect_timeout": 0, "kernel_timeout": 0, "read_timeout": 0}
	for range calls {
		count[<-words]++
	}
	text, err := json.Marshal(count)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

func call(pool chan struct{}) string {
	select {
	case pool <- struct{}{}:
		defer func() { <-pool }()
	case <-time.After(ms("LAB_POOL_MS")):
		return "pool_timeout"
	}
	req, err := http.NewRequest(http.MethodGet, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return err.Error()
	}
	conn, err := net.DialTimeout("tcp", req.URL.Host, ms("LAB_CONNECT_MS"))
	switch {
	case errors.Is(err, syscall.ETIMEDOUT): // is a net.Error with Timeout too
		return "kernel_timeout"
	case timeout(err):
		return "connect_timeout"
	}
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	if err := req.Write(conn); err != nil {
		return err.Error()
	}
	resp, err := http.ReadResponse(bufio.NewReader(quiet{conn, ms("LAB_READ_MS")}), req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	switch {
	case timeout(err):
		return "read_timeout"
	case err != nil:
		return err.Error()
	case resp.StatusCode >= 400:
		return "status"
	}
	return "ok"
}

// quiet is a connection whose every read has the limit.
type quiet struct {
	net.Conn
	limit time.Duration
}

func (q quiet) Read(b []byte) (int, error) {
	if err := q.SetReadDeadline(time.Now().Add(q.limit)); err != nil {
		return 0, err
	}
	return q.Conn.Read(b)
}

func timeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
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
