// One call, and one word for how it ended: by where it stood, not by the error's
// text.
package main

import (
	"bufio"
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

func main() { fmt.Println(call()) }

func call() string {
	req, err := http.NewRequest(http.MethodGet, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return err.Error()
	}
	conn, err := net.DialTimeout("tcp", req.URL.Host, limit("LAB_CONNECT_MS"))
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case timeout(err):
		return "connect_timeout"
	case err != nil:
		return err.Error()
	}
	defer conn.Close()
	// From here on another limit is in force: silence, so every read begins it
	// afresh.
	quiet := &quietLimit{conn, limit("LAB_READ_MS")}
	if err := req.Write(conn); err != nil {
		return err.Error()
	}
	resp, err := http.ReadResponse(bufio.NewReader(quiet), req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	switch {
	case timeout(err):
		return "read_timeout"
	case err != nil:
		return err.Error()
	}
	return "ok"
}

// quietLimit is a connection whose every read has the limit.
type quietLimit struct {
	net.Conn
	limit time.Duration
}

func (q *quietLimit) Read(b []byte) (int, error) {
	if err := q.SetReadDeadline(time.Now().Add(q.limit)); err != nil {
		return 0, err
	}
	return q.Conn.Read(b)
}

func limit(name string) time.Duration {
	ms, err := strconv.Atoi(os.Getenv(name))
	if err != nil || ms <= 0 {
		fmt.Fprintln(os.Stderr, name, "is no number of milliseconds")
		os.Exit(2)
	}
	return time.Duration(ms) * time.Millisecond
}

func timeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}
