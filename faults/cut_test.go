package faults

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaoslab/internal/skip"
)

// TestCuts: each cut comes at the byte it names, in the way it names, with and
// without a body behind the request, and the ledger says so.
func TestCuts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fault string
		body  int // bytes of the answer's body that come; -1: the head does not come whole
		rst   bool
		how   string
		acts  bool
	}{
		{"truncate", 50, false, "truncated", true},
		{"truncate:at=body:0", 0, false, "truncated", true},
		{"truncate:at=body:99999,body=100000", 99999, false, "truncated", true},
		{"truncate:at=head", -1, false, "truncated", true},
		{"truncate:at=chunk", 4 + 50 + 2, false, "truncated", true}, // "32\r\n", the chunk, "\r\n"
		{"reset", -1, true, "reset", false},
		{"reset:at=head", -1, true, "reset", true},
		{"reset:at=body:50", 50, true, "reset", true},
		{"reset:at=body:0", 0, true, "reset", true},
		{"reset:at=chunk", 4 + 50 + 2, true, "reset", true},
		{"close", -1, false, "closed", false},
		{"lost-response", -1, false, "closed", true},
		{"lost-response:then=reset", -1, true, "reset", true},
		{"malformed", -1, false, "malformed", false},
		{"close:effect=yes", -1, false, "closed", true},
		{"truncate:effect=no", 50, false, "truncated", false},
	} {
		for name, request := range map[string]string{
			"get":  get,
			"post": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("b", 200000),
		} {
			for range 10 {
				p, l := start(t, tc.fault)
				nc := dial(t, l)
				send(t, nc, request)
				got, err := readAll(nc)
				if errors.Is(err, syscall.ECONNRESET) != tc.rst || (err != nil && !tc.rst) {
					t.Errorf("%s, %s: ended with %v, want a RST: %v", tc.fault, name, err, tc.rst)
				}
				_, body, whole := strings.Cut(got, "\r\n\r\n")
				if !whole {
					body = ""
				}
				if tc.body >= 0 && (!whole || len(body) != tc.body) || tc.body < 0 && whole && tc.how != "malformed" {
					t.Errorf("%s, %s: got %q, want %d bytes of body", tc.fault, name, got, tc.body)
				}
				nc.Close()
				e := entryOf(t, p, nc, 1)
				if e.How != tc.how || e.EndedBy != "partner" || e.Effect != tc.acts || e.Sent != int64(len(got)) {
					t.Errorf("%s, %s: entry %+v, want %s by the partner, effect %v, %d bytes sent", tc.fault, name, e, tc.how, tc.acts, len(got))
				}
			}
		}
	}
}

func TestResetAtAccept(t *testing.T) {
	t.Parallel()
	p, l := start(t, "reset:at=accept")
	for range 20 {
		nc, err := net.Dial("tcp", l.Addresses[0].String())
		if err == nil {
			_ = nc.SetDeadline(time.Now().Add(5 * time.Second))
			_, err = nc.Read(make([]byte, 1))
			nc.Close()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("got %v, want a RST", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for _, e := range p.Ledger().Wait(ctx, Query{}) {
		if e.Kind != "connection" || e.How != "reset" || e.EndedBy != "partner" || e.Mode != "reset" {
			t.Errorf("entry: got %+v", e)
		}
	}
}

// TestP1ResetIsAReset: curl and every client see a reset, never a refusal, an
// empty answer or a hang; the partner received all and processed none.
func TestP1ResetIsAReset(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	skip.Missing(t, err)
	p, l := start(t, "reset")
	const runs = 20 // of curl each way; more would only take longer
	for _, data := range []string{"", "0123456789"} {
		for range runs {
			args := []string{"-s", "-m", "5", "--noproxy", "*", "-w", "%{time_total}", l.URL}
			if data != "" {
				args = append(args, "--data", data)
			}
			cmd := exec.Command(curl, args...)
			out, _ := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != 56 {
				t.Errorf("curl, data %q: exit code %d, want 56", data, code)
			}
			seconds, err := strconv.ParseFloat(string(out), 64)
			if err != nil {
				t.Fatalf("curl's time: %v", err)
			}
			within(t, "curl", time.Duration(seconds*1e9), 0, 200*time.Millisecond)
		}
	}
	if s := p.Stats()[0]; s.Received != 2*runs || s.Processed != 0 {
		t.Errorf("received %d, processed %d, want %d and 0", s.Received, s.Processed, 2*runs)
	}
}

// TestP3ThreeWaysToBeCutShort: what curl sees of each; none has a body that is
// delimited by the end of the connection, where no cut could be seen.
func TestP3ThreeWaysToBeCutShort(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	skip.Missing(t, err)
	for fault, want := range map[string]int{"truncate": 18, "truncate:at=chunk": 18, "truncate:at=head": 0} {
		_, l := start(t, fault)
		for range 10 {
			cmd := exec.Command(curl, "-s", "-o", "/dev/null", "-m", "5", "--noproxy", "*", l.URL)
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("%s: curl's exit code is %d, want %d", fault, code, want)
			}
		}
	}
}
