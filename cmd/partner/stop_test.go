package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
)

// TestStopsWithCallsHanging: an interrupt ends it within 2 s whatever hangs, and
// the file holds the end of every call.
func TestStopsWithCallsHanging(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	args := []string{"--mode", "all", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ledger", path, "--hold", "10m"}
	go func() {
		code <- cli.Run(ctx, newRoot, args, cli.Streams{Out: in, Err: &stderr})
		in.Close()
	}()
	var urls []string
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "admin"); {
		_, addr, _ := strings.Cut(lines.Text(), "://")
		urls = append(urls, addr)
	}
	sent := 0
	for _, addr := range urls {
		nc, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			continue // refused and connect-timeout
		}
		defer nc.Close()
		_, _ = nc.Write([]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n")) // one may be reset by now
		sent++
	}
	time.Sleep(200 * time.Millisecond)
	began := time.Now()
	cancel()
	select {
	case got := <-code:
		if got != cli.ExitInterrupted {
			t.Errorf("exit code %d, want %d; stderr: %s", got, cli.ExitInterrupted, &stderr)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	if took := time.Since(began); took > 2*time.Second+stopSlack {
		t.Errorf("the end took %v, want 2 s", took)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	connections := 0
	for line := range strings.Lines(string(text)) {
		var e faults.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || !e.Ended() {
			t.Errorf("line %q: %v, or it has not ended", line, err)
		}
		if e.Kind == "connection" {
			connections++
		}
	}
	if connections != sent || sent < 10 {
		t.Errorf("the file tells of %d connections, %d were made", connections, sent)
	}
}

// TestStopsDespiteAdmin: whoever holds the admin port with half a call, or with
// none, takes nothing from the ledger's file.
func TestStopsDespiteAdmin(t *testing.T) {
	t.Parallel()
	const calls = 20
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	args := []string{"--mode", "read-timeout", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ledger", path}
	go func() {
		code <- cli.Run(ctx, newRoot, args, cli.Streams{Out: in, Err: &stderr})
		in.Close()
	}()
	var addrs []string
	for lines := bufio.NewScanner(out); len(addrs) < 2 && lines.Scan(); {
		_, addr, _ := strings.Cut(lines.Text(), "://")
		addrs = append(addrs, addr)
	}
	dial := func(addr, text string) {
		nc, err := net.DialTimeout("tcp", addr, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		if _, err := io.WriteString(nc, text); err != nil {
			t.Fatal(err)
		}
	}
	for range calls {
		dial(addrs[0], "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	}
	dial(addrs[1], "")
	dial(addrs[1], "PUT /v1/listeners/x/faults HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	time.Sleep(200 * time.Millisecond)
	began := time.Now()
	cancel()
	select {
	case <-code:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	if took := time.Since(began); took > time.Second+stopSlack {
		t.Errorf("the end took %v, want 1 s", took)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(text, []byte("\n")); lines != 2*calls {
		t.Errorf("the file has %d lines, want %d: each call and its connection; stderr: %s", lines, 2*calls, &stderr)
	}
}

// TestLedgerFileTellsAtOnce: that a file cannot be written is said once, when it
// happens.
func TestLedgerFileTellsAtOnce(t *testing.T) {
	t.Parallel()
	file, err := os.Open(os.DevNull) // for reading: every write fails
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entries, told := make(chan faults.Entry), make(chan error, 3)
	done := make(chan error)
	go func() { done <- writeEntries(file, entries, func(err error) { told <- err }) }()
	entries <- faults.Entry{}
	select {
	case <-told:
	case <-time.After(5 * time.Second):
		t.Error("not told while the partner runs")
	}
	entries <- faults.Entry{}
	close(entries)
	if err := <-done; err == nil || len(told) != 0 {
		t.Errorf("at the end: %v, told %d times more, want the error and 0", err, len(told))
	}
}
