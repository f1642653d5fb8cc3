package deadline_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"chaoslab/budgetcaller/deadline"
)

func TestOrphaned(t *testing.T) {
	t.Parallel()
	const (
		work = time.Second // what the handler does, deaf to its context
		none = "none"
	)
	for _, c := range []struct {
		name    string
		timeout string
		leave   time.Duration // when the caller goes, 0: it stays
		body    string
		obeys   bool
		panics  bool
		want    string // none, deadline, gone
		overlap time.Duration
	}{
		{"in time", "20000", 0, "", false, false, none, 0},
		{"beyond the deadline", "200", 0, "", false, false, "deadline", work - 200*ms},
		{"beyond the deadline, with a body", "200", 0, "some text", false, false, "deadline", work - 200*ms},
		{"the caller goes", "20000", 200 * ms, "", false, false, "gone", work - 200*ms - slack},
		{"the caller goes, with a body", "20000", 200 * ms, "some text", false, false, "gone", work - 200*ms - slack},
		{"the caller goes after the deadline", "100", 300 * ms, "", false, false, "deadline", work - 100*ms},
		{"the work ends in a panic", "200", 0, "", false, true, "deadline", work - 200*ms},
		{"the context is obeyed", "200", 0, "", true, false, "deadline", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			told := make(chan deadline.Orphaned, 1)
			cfg := deadline.Config{OnOrphaned: func(o deadline.Orphaned) { told <- o }}
			mux := http.NewServeMux()
			ended := make(chan struct{})
			mux.HandleFunc("/orders/{id}", func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if c.obeys {
					<-r.Context().Done()
				} else {
					time.Sleep(work)
				}
				if c.panics {
					panic(http.ErrAbortHandler)
				}
			})
			adopting := wrap(t, cfg, mux)
			url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				adopting.ServeHTTP(w, r)
			}))

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.leave > 0 {
				leave := time.AfterFunc(c.leave, cancel)
				defer leave.Stop()
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/orders/7", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(deadline.HeaderTimeout, c.timeout)
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			begun := time.Now()
			if resp, err := tr.RoundTrip(req); err == nil {
				_ = resp.Body.Close()
			}
			<-ended
			all := time.Since(begun)

			select {
			case o := <-told:
				if c.want == none {
					t.Fatalf("told of %+v, want nothing", o)
				}
				if o.Method != http.MethodPost || o.Pattern != "/orders/{id}" || o.Path != "/orders/7" || o.Gone != (c.want == "gone") {
					t.Errorf("told of %+v, want POST, /orders/{id}, /orders/7, gone %v", o, c.want == "gone")
				}
				if o.Overlap <= 0 || o.Overlap < c.overlap || o.Overlap > all || o.Since.Before(begun) {
					t.Errorf("%v after %v, want an overlap from %v to %v", o.Overlap, o.Since.Sub(begun), c.overlap, all)
				}
				if c.obeys && o.Overlap > slack {
					t.Errorf("a handler that obeys overlaps by %v, want at most %v", o.Overlap, slack)
				}
			default:
				if c.want != none {
					t.Errorf("told of nothing, want %s", c.want)
				}
			}
		})
	}
}

// A deadline that the context had already is a deadline, and no caller that went.
func TestOrphanedByADeadlineFromOutside(t *testing.T) {
	t.Parallel()
	var told []deadline.Orphaned
	cfg := deadline.Config{OnOrphaned: func(o deadline.Orphaned) { told = append(told, o) }}
	ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
	defer cancel()
	until, _ := ctx.Deadline()
	wrap(t, cfg, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		time.Sleep(20 * ms)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if len(told) != 1 || told[0].Gone || !told[0].Since.Equal(until) || told[0].Overlap < 20*ms {
		t.Errorf("told of %+v, want the deadline %v and at least 20ms", told, until)
	}
}

// Reports of many requests at once stay apart.
func TestOrphanedAtOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	paths := map[string]int{}
	cfg := deadline.Config{OnOrphaned: func(o deadline.Orphaned) {
		mu.Lock()
		defer mu.Unlock()
		paths[o.Path]++
	}}
	url := serve(t, wrap(t, cfg, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			<-r.Context().Done()
			time.Sleep(ms)
		}
	})))
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	var all sync.WaitGroup
	for _, path := range []string{"/slow/a", "/fast/b", "/slow/c", "/fast/d"} {
		for range 10 {
			all.Go(func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set(deadline.HeaderTimeout, "2000")
				if strings.HasPrefix(path, "/slow") {
					req.Header.Set(deadline.HeaderTimeout, "100")
				}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return
				}
				_ = resp.Body.Close()
			})
		}
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	if len(paths) != 2 || paths["/slow/a"] != 10 || paths["/slow/c"] != 10 {
		t.Errorf("told of %v, want 10 of /slow/a and 10 of /slow/c", paths)
	}
}
