package admin

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"chaoslab/faults"
)

// TestMetrics: the names follow Prometheus' conventions, and each thing that can
// be counted is there.
func TestMetrics(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "slow:delay=1ms")
	remote := call(t, p.Listeners()[0])
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	p.Ledger().Wait(ctx, faults.Query{Remote: remote, Nth: 1})
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Host = "localhost"
	Handler(p, false).ServeHTTP(w, r)
	text := w.Body.Bytes()
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	for _, want := range []string{
		`partner_requests_total{listener="slow",mode="slow",outcome="answered"} 1`,
		`partner_requests_received_total{listener="slow"} 1`,
		`partner_connections_accepted_total{listener="slow"} 1`,
		`partner_connections_open{listener="slow"} `,
		`partner_connections_hung{listener="slow"} 0`,
		`partner_effects_total{listener="slow"} 1`,
		`partner_duplicates_total{listener="slow"} 0`,
		`partner_clients_left_total{listener="slow"} 0`,
		`partner_orphaned_work_seconds_total{listener="slow"} 0`,
		`partner_delay_asked_seconds_sum{listener="slow"} 0.001`,
		`partner_delay_overshoot_seconds_count{listener="slow"} 1`,
		`partner_ledger_dropped_entries_total 0`,
		`partner_ledger_missed_entries_total 0`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
}
