package faults

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaoslab/internal/skip"
)

// TestConformance runs over the list: what holds for one fault holds for all.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			t.Run("documented", func(t *testing.T) { documented(t, f) })
			t.Run("bad parameters", func(t *testing.T) { badParameters(t, f) })
			needs(t, f.Name)
			t.Run("bounded", func(t *testing.T) { bounded(t, f) })
			t.Run("leaving", func(t *testing.T) { leaving(t, f) })
			t.Run("curl", func(t *testing.T) { curlSees(t, f) })
			t.Run("shutdown", func(t *testing.T) { shutdown(t, f) })
		})
	}
}

func documented(t *testing.T, f Fault) {
	if f.Name == "" || strings.ToLower(f.Name) != f.Name || f.Summary == "" || f.Effect == "" || f.Curl == "" || f.Class == "" {
		t.Errorf("a field is missing or the name is not lower case: %+v", f)
	}
	if s, err := Parse(f.Name); err != nil || s.Name() != f.Name {
		t.Errorf("Parse(%q) = %v, %v", f.Name, s, err)
	}
	seen := map[string]bool{}
	for _, key := range f.Takes() {
		if seen[key] {
			t.Errorf("parameter %s is listed twice", key)
		}
		seen[key] = true
	}
	for _, p := range f.Params {
		if p.Help == "" || p.Default == "" || p.Range() == "" || strings.Contains(p.Help, "\n") {
			t.Errorf("parameter %s is not documented: %+v", p.Name, p)
		}
		if !strings.Contains(MarkdownTable(), "`"+p.Name+"` ("+p.Default+")") {
			t.Errorf("parameter %s is not in the table", p.Name)
		}
	}
}

func badParameters(t *testing.T, f Fault) {
	bad := map[string]string{"nosuch": "1", "effect": "maybe", "when": "ratio=2", "for": "-1s"}
	for _, p := range f.Params {
		switch p.Kind {
		case KindInt:
			bad[p.Name] = strconv.FormatInt(p.Max+1, 10)
		case KindShape, KindDuration:
			bad[p.Name] = (time.Duration(p.Max) + time.Millisecond).String()
		default:
			bad[p.Name] = "nowhere\x00"
		}
	}
	for key, value := range bad {
		if _, err := Parse(f.Name + ":" + key + "=" + value); err == nil || !strings.Contains(err.Error(), f.Name) {
			t.Errorf("%s:%s=%s: got error %v, want one that names the mode", f.Name, key, value, err)
		}
	}
}

// leaving holds that a client that has gone is noticed within half a second,
// whether or not it sent a body, and that the ledger says so.
func leaving(t *testing.T, f Fault) {
	s := spec(t, f.Name)
	if s.Level() == LevelPort {
		return // nothing is accepted, so nobody can be seen to leave
	}
	if f.takesSlowly() && runtime.GOOS != "linux" {
		return // what is not read cannot be seen to end there
	}
	for name, request := range map[string]string{
		"get":         get,
		"with body":   "POST /path HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("b", 200000),
		"more behind": get + strings.Repeat("b", 1000),
	} {
		p, l := start(t, f.Name)
		nc := dial(t, l)
		_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
		_, err := nc.Write([]byte(request))
		var timeout net.Error
		if err != nil && s.Level() == LevelRequest && !f.takesSlowly() {
			t.Errorf("%s: send: %v", name, err)
		} else if errors.As(err, &timeout) && !f.takesSlowly() && s.Level() == LevelRequest {
			t.Errorf("%s: the request was not taken: %v", name, err)
		}
		time.Sleep(100 * time.Millisecond)
		_ = nc.Close()
		gone := p.clock.now()
		e := entryOf(t, p, nc, 1)
		if e.Mode != f.Name || e.Remote != localOf(nc).String() {
			t.Errorf("%s: the entry is of %s from %s, want %s from %s", name, e.Mode, e.Remote, f.Name, localOf(nc))
		}
		// What hangs, and what takes its time, has not ended before the client did.
		if waits := f.Curl == "28" && !f.takesSlowly() || f.Name == "slow"; waits && e.EndedBy != "client" {
			t.Errorf("%s: ended by %s (%s), want by the client", name, e.EndedBy, e.How)
		}
		if e.EndedBy == "client" {
			if late := e.EndedAt - p.unixMS(gone); late > float64((500*time.Millisecond + slack).Milliseconds()) {
				t.Errorf("%s: noticed after %.0f ms, want 500", name, late)
			}
		}
		if e.Effect && f.Effect == "no" {
			t.Errorf("%s: the effect took place; the table says no", name)
		}
	}
}

// takesSlowly says whether a request of some size may stay untaken.
func (f Fault) takesSlowly() bool {
	return f.Name == "silent" || f.Name == "slow-read" || f.Name == "tls-timeout"
}

// curlSees holds the exit code that the list promises.
func curlSees(t *testing.T, f Fault) {
	curl, err := exec.LookPath("curl")
	skip.Missing(t, err)
	_, l := start(t, f.Name)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	limit := "10"
	if f.Curl == "28" {
		limit = "0.5"
	}
	args := []string{"-s", "-k", "-o", "/dev/null", "-m", limit, "--noproxy", "*", l.URL}
	if f.NeedsBody > 0 {
		args = append(args, "--data-binary", "@-", "-H", "Expect:")
	}
	cmd := exec.CommandContext(ctx, curl, args...)
	cmd.Stdin = strings.NewReader(strings.Repeat("b", int(f.NeedsBody)))
	_ = cmd.Run()
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != f.Curl {
		t.Errorf("curl: got exit code %s, want %s", got, f.Curl)
	}
}

// shutdown holds that the partner ends within 2 s with a call hanging.
func shutdown(t *testing.T, f Fault) {
	p, l := start(t, f.Name)
	if spec(t, f.Name).Level() != LevelPort {
		nc := dial(t, l)
		_, _ = nc.Write([]byte(get)) // a fault may have ended it already
		time.Sleep(50 * time.Millisecond)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	within(t, "Close", time.Since(began), 0, 2*time.Second)
	for _, e := range p.Ledger().Entries(Query{}) {
		if !e.Ended() {
			t.Errorf("after Close this has not ended: %+v", e)
		}
	}
}
