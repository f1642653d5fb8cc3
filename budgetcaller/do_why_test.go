package budgetcaller

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// An answer that is no success says why it was the last.
func TestAnswerSaysWhyItIsTheLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, method, body string
		status             int
		attempts           int
		why                string
	}{
		{"fine", "GET", "", 200, 1, ""},
		{"no attempts left", "GET", "", 503, 3, "no attempts left"},
		{"permanent", "GET", "", 404, 1, "a failure of this kind is not repeated"},
		{"not to be repeated", "POST", "x", 502, 1, "it may have happened"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status) })
			c := newCaller(t, Config{Default: Dependency{Retry: fixed(3, time.Millisecond)}})
			answer, _, err := ask(t, c, 5*time.Second, request(t, tt.method, s.url, tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if n := len(answer.Result.Attempts); n != tt.attempts || !strings.HasPrefix(answer.Why, tt.why) || (answer.Why == "") != (tt.why == "") {
				t.Errorf("%d attempts, why %q; want %d, %q", n, answer.Why, tt.attempts, tt.why)
			}
		})
	}
}
