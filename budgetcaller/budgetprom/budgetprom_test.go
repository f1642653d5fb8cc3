package budgetprom

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/breaker"
)

func TestHooksBecomeMetrics(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	reg := prometheus.NewPedanticRegistry()
	hooks, err := New(reg, "price")
	if err != nil {
		t.Fatal(err)
	}
	retry := budgetcaller.Retry{Attempts: 3, Backoff: backoff.Config{Base: 20 * time.Millisecond, Cap: 20 * time.Millisecond, Jitter: backoff.None}}
	c, err := budgetcaller.New(budgetcaller.Config{
		Hooks:   hooks,
		Default: budgetcaller.Dependency{Retry: retry},
		Dependencies: []budgetcaller.Dependency{{
			Name: "price", Retry: retry,
			Breaker: &breaker.Config{MinimumNumberOfCalls: 2, SlidingWindowSize: 2},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel, err := budgetcaller.Begin(t.Context(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	for _, name := range []string{"price", ""} {
		req, err := http.NewRequest(http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx := ctx
		if name != "" {
			ctx = budgetcaller.Calling(ctx, name)
		}
		_, _ = c.Do(ctx, req)
	}
	// The breaker of price opens after its second failure; what no dependency
	// names makes its three attempts.
	want := `
# HELP budgetcaller_attempts_total Attempts that were made, by how they ended.
# TYPE budgetcaller_attempts_total counter
budgetcaller_attempts_total{class="status",dependency="other",effect="answered",limit="none"} 3
budgetcaller_attempts_total{class="status",dependency="price",effect="answered",limit="none"} 2
# HELP budgetcaller_breaker_changes_total Changes of a breaker's state.
# TYPE budgetcaller_breaker_changes_total counter
budgetcaller_breaker_changes_total{dependency="price",from="closed",reason="failure_rate",to="open"} 1
# HELP budgetcaller_breaker_state State of the breaker: 1 for the one it is in, 0 for the others.
# TYPE budgetcaller_breaker_state gauge
budgetcaller_breaker_state{dependency="price",state="closed"} 0
budgetcaller_breaker_state{dependency="price",state="half_open"} 0
budgetcaller_breaker_state{dependency="price",state="open"} 1
# HELP budgetcaller_skipped_total Attempts that were not made, by the class of the call that ended so.
# TYPE budgetcaller_skipped_total counter
budgetcaller_skipped_total{class="breaker_open",dependency="price"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "budgetcaller_attempts_total",
		"budgetcaller_breaker_changes_total", "budgetcaller_breaker_state", "budgetcaller_skipped_total"); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(reg, "budgetcaller_retry_wait_seconds"); n != 2 {
		t.Errorf("%d series of waits, want one for each dependency", n)
	}
	if lint, err := testutil.GatherAndLint(reg); err != nil || len(lint) > 0 {
		t.Errorf("lint: %v %v", lint, err)
	}
	if _, err := New(prometheus.NewPedanticRegistry(), "price", "a\xff"); err == nil || !strings.Contains(err.Error(), `"a\xff"`) {
		t.Errorf("a name that no label can have: %v", err)
	}
	if _, err := New(reg); err == nil {
		t.Error("a second registration with the same registry succeeded")
	}
}

// An alert on a state needs it before the first change, too.
func TestBreakerStateFromTheStart(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewPedanticRegistry()
	if _, err := New(reg, "price", "stock"); err != nil {
		t.Fatal(err)
	}
	const want = `
# HELP budgetcaller_breaker_state State of the breaker: 1 for the one it is in, 0 for the others.
# TYPE budgetcaller_breaker_state gauge
budgetcaller_breaker_state{dependency="price",state="closed"} 1
budgetcaller_breaker_state{dependency="price",state="half_open"} 0
budgetcaller_breaker_state{dependency="price",state="open"} 0
budgetcaller_breaker_state{dependency="stock",state="closed"} 1
budgetcaller_breaker_state{dependency="stock",state="half_open"} 0
budgetcaller_breaker_state{dependency="stock",state="open"} 0
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "budgetcaller_breaker_state"); err != nil {
		t.Error(err)
	}
}
