package main

import (
	"strings"
	"testing"
	"time"

	"chaoslab/faults"
)

func TestWhatThePartnerMayStillDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		entry   faults.Entry
		pending bool
		words   string
	}{
		{"slow, left", faults.Entry{Mode: "slow", EndedBy: "client"}, true, "may still do it"},
		{"slow, left after the work", faults.Entry{Mode: "slow", EndedBy: "client", Effect: true}, false, "it did the work"},
		{"slow, still at it", faults.Entry{Mode: "slow"}, true, "it is still at it"},
		{"slow, stopped by the partner", faults.Entry{Mode: "slow", EndedBy: "partner"}, false, "it did not do the work"},
		{"read-timeout never does it", faults.Entry{Mode: "read-timeout", EndedBy: "client"}, false, "it did not do the work"},
		{"a mode of another version", faults.Entry{Mode: "nosuch", EndedBy: "client"}, true, "may still do it"},
	} {
		c.entry.Kind = sawRequest
		v := viewOf(c.entry, time.Second)
		if v.Pending != c.pending || (v.Effect == nil) != c.pending || !strings.Contains(v.account(), c.words) {
			t.Errorf("%s: got pending %v, effect %v, %q; want pending %v, %q", c.name, v.Pending, v.Effect, v.account(), c.pending, c.words)
		}
	}
}
