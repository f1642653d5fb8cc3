package faults

import (
	"strings"
	"testing"
	"time"
)

// TestRows: a row in which an entry never has its turn is refused, and no other.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ row, want string }{
		{"ok", ""},
		{"slow:when=first=3 status", ""},
		{"ok:for=1s refused", ""},
		{"ok:for=1s refused:for=1s", ""},
		{"refused:for=10s silent:when=every=2 slow:when=first=1", ""},
		{"silent:when=ratio=0.5 slow", ""},
		{"ok:for=1s silent", ""},
		{"slow:for=1s status:for=1s ok", ""},
		{"silent:for=1s status:when=first=3 ok", ""},
		{"slow refused", "refused can never act while slow stands before it"},
		{"slow:when=first=3 refused", "refused can never act while slow:when=first=3 stands before it"},
		{"refused slow", "slow can never act while refused stands before it"},
		{"ok silent", "silent can never act while ok stands before it"},
		{"ok slow:for=10s", "slow:for=10s can never act while ok stands before it"},
		{"slow:when=first=3 silent", "slow:when=first=3 can never act while silent stands behind it"},
		{"silent slow", "slow can never act while silent stands before it"},
		{"ok ok", "ok can never act while ok stands before it"},
	} {
		var specs []Spec
		for text := range strings.FieldsSeq(tc.row) {
			specs = append(specs, spec(t, text))
		}
		_, err := newPlan(specs, 1, "x")
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", tc.row, err, tc.want)
		}
	}
}

// TestRowsInTurn: what stands first in the row has the port, or the connections,
// for its time.
func TestRowsInTurn(t *testing.T) {
	t.Parallel()
	for _, second := range []string{"refused", "silent"} {
		stages, err := Schedule([]Spec{spec(t, "ok:for=1s"), spec(t, second)}, 1, "x", 1)
		if err != nil || len(stages) != 2 || stages[1].From != time.Second {
			t.Fatalf("%s: got %+v, %v, want two stages", second, stages, err)
		}
		if s := stages[0]; s.Port != "" || len(s.Rows) != 1 || s.Rows[0].Connection != "" {
			t.Errorf("%s: first stage: got %+v, want ok alone", second, s)
		}
		if s := stages[1]; s.Port != second && s.Rows[0].Connection != second {
			t.Errorf("second stage: got %+v, want %s", s, second)
		}
	}
	if _, err := ParseWhen("first=3+after=5"); err == nil || !strings.Contains(err.Error(), "hits nothing") {
		t.Errorf("first=3+after=5: got %v, want an error", err)
	}
	if _, err := ParseWhen("first=9+after=5+every=5"); err == nil || !strings.Contains(err.Error(), "hits nothing") {
		t.Errorf("first=9+after=5+every=5: got %v, want an error", err)
	}
	if _, err := ParseWhen("first=10+after=5+every=5"); err != nil {
		t.Errorf("first=10+after=5+every=5: got %v", err)
	}
}
