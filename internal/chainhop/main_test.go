package chainhop

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaoslab/faults"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The slack of every test that looks at the time: what a busy machine may add.
const slack = 2 * time.Second

func modes() faults.Modes { return faults.Modes{}.With(Fault()) }

// start starts a partner with one listener for each row of faults; the faults of
// a row are joined by blanks.
func start(t testing.TB, rows ...string) *faults.Partner {
	t.Helper()
	cfg := faults.Config{Modes: modes()}
	for i, row := range rows {
		l := faults.ListenerConfig{Name: string(rune('a' + i))}
		for text := range strings.FieldsSeq(row) {
			s, err := modes().Parse(text)
			if err != nil {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			l.Faults = append(l.Faults, s)
		}
		cfg.Listeners = append(cfg.Listeners, l)
	}
	p, err := faults.Start(cfg)
	if err != nil {
		t.Fatalf("Start(%v): %v", rows, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if err := p.Close(ctx); err != nil || time.Since(began) > 2*time.Second+slack {
			t.Errorf("Close: %v after %v", err, time.Since(began))
		}
	})
	return p
}

// chain starts a leaf with the given faults and n hops before it, the entry
// first in what it returns. Every hop has the same parameters.
func chain(t testing.TB, n int, params, leaf string) []*faults.Partner {
	t.Helper()
	all := []*faults.Partner{start(t, leaf)}
	for range n {
		all = append([]*faults.Partner{start(t, "chain:next="+urlOf(all[0])+params)}, all...)
	}
	return all
}

func urlOf(p *faults.Partner) string { return p.Listeners()[0].URL }

// get sends a request with header lines in the form NAME: VALUE and returns the
// status and the body, or 0 and why there is no answer.
func get(ctx context.Context, url string, headers ...string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(body)
}

// requests returns the entries of all requests once all have ended and been
// worked on.
func requests(t testing.TB, p *faults.Partner) []faults.Entry {
	t.Helper()
	var found []faults.Entry
	for _, e := range p.Ledger().Entries(faults.Query{}) {
		if e.Kind == "request" {
			found = append(found, e)
		}
	}
	return found
}
