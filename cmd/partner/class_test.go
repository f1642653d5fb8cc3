package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/faults"
)

// TestClasses: a caller sees each fault as the list says. It stands here because
// the faults and the caller's library know nothing of each other.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, f := range modes().All() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			s, err := modes().Parse(f.Name)
			if f.Name == "slow" || f.Name == "drip" || f.Name == "drip-head" {
				// The whole answer has to come within the budget.
				s, err = modes().Parse(f.Name + map[string]string{"slow": ":delay=300ms", "drip": ":every=5ms", "drip-head": ":every=2ms"}[f.Name])
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := faults.Start(faults.Config{Modes: modes(), Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{s}}}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close(t.Context())
			c, err := budgetcaller.New(budgetcaller.Config{
				Limits: budgetcaller.Limits{Connect: time.Second, Read: time.Second},
				TLS:    &tls.Config{InsecureSkipVerify: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx, cancel, err := budgetcaller.Begin(t.Context(), 3*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer cancel()
			req, err := http.NewRequest(http.MethodGet, p.Listeners()[0].URL, nil)
			if f.NeedsBody > 0 {
				req, err = http.NewRequest(http.MethodPost, p.Listeners()[0].URL, bytes.NewReader(make([]byte, f.NeedsBody)))
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Run(ctx, req, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Last(); got.Class.String() != f.Class {
				t.Errorf("%s: a caller sees %s in phase %s (%v), the list says %s", f.Name, got.Class, got.Phase, got.Err, f.Class)
			}
		})
	}
}
