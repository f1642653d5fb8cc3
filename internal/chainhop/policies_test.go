package chainhop

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What the leaf sees of one call of the entry, by policy, where it always fails.
// The figures are those of the simulator. A busy machine is late, and then fewer
// tries fit: with longer times it is not. Never are there more.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, policy string
		budget       int // in halves of what the leaf takes; 0: the default
		tries        int
		status       int
		calls        int
	}{
		{"none", PolicyNone, 0, 2, http.StatusBadGateway, 4},
		{"each", PolicyEach, 5, 2, http.StatusGatewayTimeout, 2},
		{"pass", PolicyPass, 5, 3, http.StatusGatewayTimeout, 2},
		{"pass, one try", PolicyPass, 0, 1, http.StatusBadGateway, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for _, cost := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 2 * time.Second} {
				params := fmt.Sprintf(",policy=%s,tries=%d", c.policy, c.tries)
				if c.budget > 0 {
					params += fmt.Sprintf(",needs=%v,budget=%v", cost, cost/2*time.Duration(c.budget))
				}
				all := chain(t, 2, params, fmt.Sprintf("status:delay=%v", cost))
				began := time.Now()
				status, text := get(t.Context(), urlOf(all[0]))
				took := time.Since(began)
				n = len(requests(t, all[2]))
				if n > c.calls {
					t.Fatalf("%d calls of the leaf, want %d", n, c.calls)
				}
				if n < c.calls {
					continue
				}
				if least := cost * time.Duration(c.calls); status != c.status || took < least || strings.Count(text, "\n") != 1 {
					t.Errorf("got status %d after %v, %q; want %d after at least %v, one line", status, took, text, c.status, least)
				}
				return
			}
			t.Errorf("%d calls of the leaf, want %d", n, c.calls)
		})
	}
}
