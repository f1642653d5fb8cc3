package chainhop

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"chaoslab/faults"
)

// A try that takes too long is let go and the next one made; it is told what it
// is given.
func TestPerTry(t *testing.T) {
	t.Parallel()
	all := chain(t, 1, ",tries=2,per-try=300ms", "read-timeout:when=first=1")
	began := time.Now()
	status, text := get(t.Context(), urlOf(all[0]))
	if took := time.Since(began); status != http.StatusOK || took < 300*time.Millisecond || took > 300*time.Millisecond+slack {
		t.Errorf("got status %d, %q after %v, want 200 after 300 ms", status, text, took)
	}
	calls := requests(t, all[1])
	if len(calls) != 2 || calls[0].EndedBy != "client" || calls[0].TimeoutMS < 200 || calls[0].TimeoutMS > 300 {
		t.Errorf("the next hop had %+v, want two calls, the first with 300 ms and left by its client", calls)
	}
}

// All calls at once are needed: the first failure ends the others.
func TestParallel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, leaf    string
		status, calls int
		least, most   time.Duration
	}{
		{"all succeed", "slow:delay=200ms", http.StatusOK, 3, 200 * time.Millisecond, 600 * time.Millisecond},
		{"one is tried again", "status:delay=200ms,when=first=1 slow:delay=200ms", http.StatusOK, 4, 400 * time.Millisecond, time.Minute},
		{"one is final", "status:status=500,delay=200ms,when=first=1 slow:delay=1m", http.StatusInternalServerError, 3, 200 * time.Millisecond, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := chain(t, 1, ",parallel=3,workers=1,tries=2", c.leaf)
			began := time.Now()
			status, text := get(t.Context(), urlOf(all[0]))
			took := time.Since(began)
			if n := len(requests(t, all[1])); status != c.status || n != c.calls || took < c.least || took > c.most+slack {
				t.Errorf("got status %d, %q after %v, %d calls; want %d after %v to %v, %d", status, text, took, n, c.status, c.least, c.most, c.calls)
			}
		})
	}
}

// What a hop does when its client leaves may be said against its policy. Its own
// work ends at its deadline in any case.
func TestLeavingIsAsSaid(t *testing.T) {
	t.Parallel()
	const work = time.Second
	for _, c := range []struct {
		params string
		stops  bool
	}{
		{",policy=each", false},
		{",policy=pass", true},
		{",policy=each,leaving=stop", true},
		{",policy=none,leaving=stop", true},
		{",policy=pass,leaving=work", false},
	} {
		t.Run(c.params, func(t *testing.T) {
			t.Parallel()
			p := start(t, "chain:work="+work.String()+c.params)
			ctx, cancel := context.WithTimeout(t.Context(), work/4)
			defer cancel()
			get(ctx, urlOf(p))
			var e faults.Entry
			for end := time.Now().Add(work + slack); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				if all := requests(t, p); len(all) == 1 && p.Stats()[0].Outcomes != nil && all[0].Worked > 0 {
					e = all[0]
					break
				}
			}
			if least := float64(work.Milliseconds()); e.EndedBy != "client" || (e.Worked < least) != c.stops || e.Worked < least/10 {
				t.Errorf("ended by %q, worked %v ms, want by the client and the whole of %v: %v", e.EndedBy, e.Worked, work, !c.stops)
			}
		})
	}
}

// A leaf of a scripted chain does what the script says of its way, and no longer
// than until its deadline.
func TestScript(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ways []string
	modes := faults.Modes{}.With(Scripted(func(way string) (time.Duration, int) {
		mu.Lock()
		defer mu.Unlock()
		ways = append(ways, way)
		switch way {
		case "/1.1/1.1":
			return 50 * time.Millisecond, http.StatusServiceUnavailable
		case "/1.1/1.2":
			return time.Hour, http.StatusOK
		}
		return 50 * time.Millisecond, http.StatusOK
	}))
	next := ""
	var all []*faults.Partner
	for _, text := range []string{"chain:policy=each,budget=300ms", "chain:tries=2,policy=none,next=", "chain:tries=2,policy=none,next="} {
		if len(all) > 0 {
			text += next
		}
		s, err := modes.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := faults.Start(faults.Config{Modes: modes, Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{s}}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		next = urlOf(p)
		all = append(all, p)
	}
	began := time.Now()
	status, text := get(t.Context(), next)
	took := time.Since(began)
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"/1.1/1.1", "/1.1/1.2", "/1.2/1.1"}; !slices.Equal(ways, want) {
		t.Errorf("the leaf was called by %q, want %q", ways, want)
	}
	if least := 400 * time.Millisecond; status != http.StatusOK || took < least || took > least+slack {
		t.Errorf("got status %d, %q after %v, want 200 after %v", status, text, took, least)
	}
}
