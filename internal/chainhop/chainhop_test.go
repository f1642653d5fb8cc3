package chainhop

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"chaoslab/faults"
)

// Under each a hop goes on when its caller has left, and its own ledger tells;
// under pass nothing is started for nobody.
func TestOrphanedWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		goesOn bool
	}{{PolicyNone, true}, {PolicyEach, true}, {PolicyPass, false}} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			all := chain(t, 1, ",tries=3,needs=300ms,policy="+c.policy, "status:delay=300ms")
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if status, text := get(ctx, urlOf(all[0])); status != 0 {
				t.Fatalf("got status %d, %q, want none: the client leaves", status, text)
			}
			want := 1
			if c.goesOn {
				want = 3
			}
			for end := time.Now().Add(time.Second + slack); len(requests(t, all[1])) < want && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(400 * time.Millisecond) // one more would come within that
			if n := len(requests(t, all[1])); n != want {
				t.Errorf("%d calls of the leaf, want %d", n, want)
			}
			// The last call may still be on.
			var e faults.Entry
			for end := time.Now().Add(slack); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				if e = requests(t, all[0])[0]; !c.goesOn || e.OrphanedOverlap > 0 {
					break
				}
			}
			if (e.OrphanedOverlap > 500) != c.goesOn || e.EndedBy != "client" || e.Orphaned != 0 {
				t.Errorf("orphaned %v, overlap %v ms, ended by %s, want an overlap above 500: %v", e.Orphaned, e.OrphanedOverlap, e.EndedBy, c.goesOn)
			}
		})
	}
}

// The deadline goes down under pass alone, shorter at every hop.
func TestPassesTheDeadlineDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		told   bool
	}{{PolicyNone, false}, {PolicyEach, false}, {PolicyPass, true}} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			all := chain(t, 2, ",work=20ms,policy="+c.policy, "ok")
			if status, text := get(t.Context(), urlOf(all[0]), "X-Request-Timeout-Ms: 5000"); status != http.StatusOK {
				t.Fatalf("got status %d, %q", status, text)
			}
			before := 5000.0
			for i, p := range all[1:] {
				e := requests(t, p)[0]
				if (e.TimeoutMS > 0) != c.told || c.told && (e.TimeoutMS > before-20 || e.TimeoutMS < before-20-float64(slack.Milliseconds())) {
					t.Errorf("hop %d was told %v ms, the one above %v: want told %v and 20 ms less", i+2, e.TimeoutMS, before, c.told)
				}
				before = e.TimeoutMS
			}
		})
	}
}

func TestDeadlineAlreadyOver(t *testing.T) {
	t.Parallel()
	all := chain(t, 1, ",needs=200ms", "ok")
	for _, left := range []string{"0", "-5", "150"} {
		status, text := get(t.Context(), urlOf(all[0]), "X-Request-Timeout-Ms: "+left)
		if status != http.StatusGatewayTimeout || len(requests(t, all[1])) != 0 {
			t.Errorf("%s ms left: got status %d, %q, and %d calls passed on, want 504 and none", left, status, text, len(requests(t, all[1])))
		}
	}
}

// A circle is noticed by the first hop that sees its own mark, and not tried
// again.
func TestCircleIsRefused(t *testing.T) {
	t.Parallel()
	for hops := 1; hops <= 3; hops++ {
		t.Run(fmt.Sprint(hops), func(t *testing.T) {
			t.Parallel()
			all := chain(t, hops-1, ",tries=5", "ok")
			first, last := all[0], all[len(all)-1]
			s, err := modes().Parse("chain:tries=5,workers=1,next=" + urlOf(first))
			if err != nil {
				t.Fatal(err)
			}
			if err := last.Set("a", []faults.Spec{s}, 0); err != nil {
				t.Fatal(err)
			}
			status, text := get(t.Context(), urlOf(first))
			if status != http.StatusLoopDetected || !strings.Contains(text, "circle") || strings.Count(text, "\n") != 1 {
				t.Errorf("got status %d, %q, want 508 and one line about the circle", status, text)
			}
			if n := len(requests(t, first)); n != 2 {
				t.Errorf("the first hop was called %d times, want 2", n)
			}
		})
	}
}

// A next hop that is not there.
func TestNextIsNotThere(t *testing.T) {
	t.Parallel()
	gone := start(t, "refused")
	p := start(t, "chain:next="+urlOf(gone))
	status, text := get(t.Context(), urlOf(p))
	if status != http.StatusBadGateway || !strings.Contains(text, "refused") || !strings.Contains(text, gone.Listeners()[0].Addresses[0].String()) || strings.Count(text, "\n") != 1 {
		t.Errorf("got status %d, %q, want 502 and one line with the address and refused", status, text)
	}
}

// What is final below is final above.
func TestFinalFailuresAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	all := chain(t, 2, ",tries=4", "status:status=500")
	if status, text := get(t.Context(), urlOf(all[0])); status != http.StatusInternalServerError {
		t.Errorf("got status %d, %q, want 500", status, text)
	}
	if n := len(requests(t, all[2])); n != 1 {
		t.Errorf("%d calls of the leaf, want 1", n)
	}
}

// Workers bound how many requests are held at once; what skips the next hop still
// needs one.
func TestWorkersAndSkip(t *testing.T) {
	t.Parallel()
	leaf := start(t, "slow:delay=300ms")
	p := start(t, "chain:workers=1,skip=/own,next="+urlOf(leaf))
	done := make(chan int)
	go func() {
		status, _ := get(t.Context(), urlOf(p))
		done <- status
	}()
	for end := time.Now().Add(slack); len(requests(t, leaf)) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	if status, text := get(t.Context(), urlOf(p)+"/own/page"); status != http.StatusOK {
		t.Errorf("got status %d, %q, want 200", status, text)
	}
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("it took %v although the one worker was busy for some 300 ms", took)
	}
	if status := <-done; status != http.StatusOK || len(requests(t, leaf)) != 1 {
		t.Errorf("got status %d and %d calls of the leaf, want 200 and 1", status, len(requests(t, leaf)))
	}
	// The answer is there a moment before the entry has its end.
	for end := time.Now().Add(slack); !requests(t, p)[1].Ended() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if e := requests(t, p)[1]; e.Waited < 100 {
		t.Errorf("the ledger says that it waited %v ms", e.Waited)
	}
}

// A shutdown with calls hanging below ends within 2 s; start looks at that.
func TestShutdownWhileCalling(t *testing.T) {
	t.Parallel()
	leaf := start(t, "read-timeout")
	p := start(t, "chain:policy=none,next="+urlOf(leaf))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go get(ctx, urlOf(p))
	for end := time.Now().Add(slack); len(requests(t, leaf)) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	closing, stop := context.WithTimeout(t.Context(), 2*time.Second+slack)
	defer stop()
	if err := p.Close(closing); err != nil {
		t.Error(err)
	}
}

// A hop that is replaced keeps its connections until the last request is done
// with them.
func TestCloseWaitsForTheLastRequest(t *testing.T) {
	t.Parallel()
	next, err := parseNext("http://127.0.0.1:1/")
	if err != nil {
		t.Fatal(err)
	}
	h := newHop(config{next: next, policy: PolicyPass, tries: 1, needs: time.Millisecond, workers: 1})
	for range 2 {
		if _, err := h.borrow(); err != nil {
			t.Fatal(err)
		}
	}
	h.close()
	h.release()
	if h.caller == nil {
		t.Error("the caller was closed under a request")
	}
	h.release()
	if h.caller != nil {
		t.Error("the caller is still there after the last request")
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"chain", ""},
		{"chain:next=http://127.0.0.1:1/a?b=c", ""},
		{"chain:next=http://[::1]:1", ""},
		{"chain:next=http://localhost:1", ""},
		{"chain:next=https://127.0.0.1:1", "write http://"},
		{"chain:next=127.0.0.1:1", "write http://"},
		{"chain:next=", "write http://"},
		{"chain:next=http://127.0.0.1", ""},
		{"chain:next=http://127.0.0.1:0/", "from 1 to 65535"},
		{"chain:next=http://127.0.0.1:/", "from 1 to 65535"},
		{"chain:next=http://127.0.0.1:65536/", "from 1 to 65535"},
		{"chain:next=http://127.0.0.1:99999999999999999999/", "from 1 to 65535"},
		{"chain:next=http://u:p@127.0.0.1/", "write http://"},
		{"chain:next=http://example.com/", "not loopback"},
		{"chain:next=http://10.0.0.1/", "not loopback"},
		{"chain:policy=some", "one of none, each, pass"},
		{"chain:tries=0", "out of range"},
		{"chain:tries=101", "out of range"},
		{"chain:workers=0", "out of range"},
		{"chain:budget=0s", "out of range"},
		{"chain:needs=0s", "out of range"},
		{"chain:backoff=1500us", "whole milliseconds"},
		{"chain:backoff=2s,backoff-cap=1s", "longer than its cap"},
		{"chain:skip=health", "beginning of a path"},
	} {
		_, err := modes().Parse(c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "chain: ")) {
			t.Errorf("Parse(%q): got %v, want %q", c.text, err, c.want)
		}
	}
}

// It reaches further than its port, so no request may choose it.
func TestNotByRequest(t *testing.T) {
	t.Parallel()
	p := start(t, "ok")
	status, text := get(t.Context(), urlOf(p)+"/?fault=chain:next="+urlOf(p))
	if status != http.StatusBadRequest || !strings.Contains(text, "cannot be asked for by a request") {
		t.Errorf("got status %d, %q, want 400", status, text)
	}
}

// Faults of another list are refused, not taken for something else.
func TestModesOfAnotherPartner(t *testing.T) {
	t.Parallel()
	s, err := modes().Parse("chain")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{s}}}}); err == nil || !strings.Contains(err.Error(), "not among the modes") {
		t.Errorf("Start without the mode: got %v", err)
	}
}
