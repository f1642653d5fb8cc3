package faults

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// bounded holds what the list promises of a fault whose client stays: that it
// ends by itself, at hold if it hangs, that the ledger says how, and that the
// effect takes place as the table says. It is a part of TestConformance.
func bounded(t *testing.T, f Fault) {
	if spec(t, f.Name).Level() == LevelPort {
		return // there is nothing that could last
	}
	const hold = 300 * time.Millisecond
	text, hangs := f.Name, slices.Contains(f.Takes(), "hold")
	if hangs {
		text += ":hold=" + hold.String()
	}
	p, l := start(t, text)
	nc := dial(t, l)
	_ = nc.SetDeadline(time.Now().Add(15 * time.Second))
	began := time.Now()
	if _, err := nc.Write([]byte("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 10\r\n\r\n0123456789")); err == nil {
		_, _ = io.Copy(io.Discard, nc) // until the partner ends it
	}
	took := time.Since(began)
	e := entryOf(t, p, nc, 1)
	if e.EndedBy != "partner" {
		t.Errorf("%s: ended by %s, want by the partner: the client stayed", text, e.EndedBy)
	}
	if !slices.Contains(Outcomes()[1:], e.How) || e.How == "stopped" || e.How == "write_stuck" || e.How == "bad_request" {
		t.Errorf("%s: the ledger says %q", text, e.How)
	}
	if e.How == "held" {
		within(t, text, took, hold-10*time.Millisecond, hold+2*sweepEvery)
		if !hangs {
			t.Errorf("%s hangs and takes no hold", f.Name)
		}
	}
	within(t, text, took, 0, 5*time.Second)
	want := strings.HasPrefix(f.Effect, "yes") || strings.HasPrefix(f.Effect, "when ")
	if e.Effect != want {
		t.Errorf("%s: effect %v, the table says %s", text, e.Effect, f.Effect)
	}
}
