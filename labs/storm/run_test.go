package storm

import (
	"context"
	"errors"
	"go/build"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slack is how much longer than meant a thing may take on a machine that is busy
// with other tests.
const slack = 3 * time.Second

func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"chaoslab/budgetcaller", "chaoslab/budgetcaller/backoff", "chaoslab/budgetcaller/breaker",
		"chaoslab/budgetcaller/throttle", "chaoslab/faults", "golang.org/x/sys/unix",
	}
	for _, path := range pkg.Imports {
		if strings.Contains(path, ".") || strings.HasPrefix(path, "chaoslab/") {
			if !slices.Contains(allowed, path) {
				t.Errorf("imports %s, want only %v", path, allowed)
			}
		}
	}
}

func startOwn(t *testing.T, cfg OwnConfig) *Own {
	t.Helper()
	own, err := StartOwn(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return own
}

// small is a run that any machine can make.
func small(own Partner, p Policy) Config {
	return Config{
		Instances: 4, Rate: 10, Attempts: 5, Policy: p, Partner: own, Seed: 1,
		Attempt: 2 * time.Second, Patience: 10 * time.Second,
		Healthy: 500 * ms, Failure: 500 * ms, Recovery: 500 * ms,
	}
}

// Without a wait, every call that fails arrives as often as it may be tried.
func TestRunMultiplies(t *testing.T) {
	t.Parallel()
	own := startOwn(t, OwnConfig{"ok", "status"})
	cfg := small(own, None)
	cfg.Recovery = 2500 * ms
	rep, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, a := rep.Calls, rep.Attempts
	switch {
	case c.Due != 140 || c.Good+c.Failed != 140 || c.Late+c.Dropped+c.Canceled != 0:
		t.Errorf("calls: %+v, want 140, good or failed", c)
	case c.Failed < 1 || c.Failed > 80:
		t.Errorf("%d calls failed, want about the 20 that fell due in the failure", c.Failed)
	case a.First != 140 || a.Unsent != 0 || a.Unaccounted != 0:
		t.Errorf("attempts: %+v, want 140 first ones, all accounted for", a)
	case a.Retried < 4*c.Failed || a.Retried > 4*(c.Failed+4):
		t.Errorf("%d retries for %d calls that failed, want 4 each", a.Retried, c.Failed)
	case rep.Partner.Received != uint64(a.First+a.Retried) || rep.Partner.Effects != uint64(c.Good):
		t.Errorf("the partner counted %+v, sent were %+v of calls %+v", rep.Partner, a, c)
	case rep.Interrupted || !rep.Recovered.Ok && rep.Machine.LateMax < 100*ms:
		t.Errorf("interrupted %v, recovered %+v", rep.Interrupted, rep.Recovered)
	}
	var due, first, retried int
	var received uint64
	for i, s := range rep.Seconds {
		due, first, retried, received = due+s.Due, first+s.First, retried+s.Retried, received+s.Partner.Received
		if i > 0 && s.From != rep.Seconds[i-1].To {
			t.Errorf("second %d is from %v, the one before it to %v", i, s.From, rep.Seconds[i-1].To)
		}
	}
	if due != 140 || first != a.First || retried != a.Retried || received != rep.Partner.Received {
		t.Errorf("the seconds add up to %d, %d, %d, %d, want what the whole has: %+v", due, first, retried, received, rep)
	}
}

// The throttle and the breaker keep the partner from it.
func TestRunHoldsBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy Policy
		most   int // retries
	}{
		{Throttle, 4 * (1 + 2 + 2)}, // of each instance: one saved up, one a second, a tenth of its calls
		{Deadline, 4 * (1 + 2 + 2)},
	} {
		t.Run(c.policy.String(), func(t *testing.T) {
			t.Parallel()
			own := startOwn(t, OwnConfig{"ok", "status"})
			rep, err := Run(t.Context(), small(own, c.policy))
			if err != nil {
				t.Fatal(err)
			}
			if rep.Attempts.Retried > c.most || rep.Attempts.Unaccounted != 0 {
				t.Errorf("attempts: %+v, want at most %d retries", rep.Attempts, c.most)
			}
		})
	}
}

// With the breaker nothing arrives after a while.
func TestRunBreakerOpens(t *testing.T) {
	t.Parallel()
	own := startOwn(t, OwnConfig{"status", "status"})
	cfg := small(own, Breaker)
	cfg.Instances, cfg.Rate, cfg.Healthy = 1, 100, time.Second
	rep, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, s := range rep.Seconds {
		open += s.BreakerOpen
	}
	// 20 before it judges, and what is under way by then; three trials a second.
	if open == 0 || rep.Partner.Received > 100 {
		t.Errorf("%d attempts were not made for the breaker, %d arrived, want most of 200 calls not made", open, rep.Partner.Received)
	}
}

// A partner that cannot keep up works for clients that have left.
func TestRunCountsOrphanedWork(t *testing.T) {
	t.Parallel()
	own := startOwn(t, OwnConfig{"overload:workers=1,queue=50,work=300ms,retry-after=none", "overload:workers=1,queue=50,work=300ms,retry-after=none"})
	cfg := small(own, None)
	cfg.Instances, cfg.Attempts, cfg.Attempt = 2, 2, 100*ms
	rep, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Calls.Good != 0 || rep.Partner.ClientsLeft == 0 || rep.Partner.Orphaned < 200*ms || rep.Recovered.Ok {
		t.Errorf("calls %+v, partner %+v, recovered %+v, want no call good, clients that left and work for them", rep.Calls, rep.Partner, rep.Recovered)
	}
	if n := rep.Latency[Failure]; n.N == 0 || n.P50 < 200*ms {
		t.Errorf("latency %+v, want two attempts of 100 ms each", n)
	}
}

// The latency of a call counts from when it was due, not from when it could be
// sent.
func TestRunCountsFromWhenDue(t *testing.T) {
	t.Parallel()
	own := startOwn(t, OwnConfig{"slow:delay=400ms", "slow:delay=400ms"})
	cfg := small(own, None)
	cfg.Instances, cfg.Rate = 1, 20
	start := time.Now()
	rep, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 1900*ms+slack {
		t.Errorf("30 calls of 400 ms took %v: it waited for answers", took)
	}
	if rep.Calls.Due != 30 || rep.Latency[Healthy].P50 < 400*ms {
		t.Errorf("calls %+v, latency %+v, want 30 of 400 ms or more", rep.Calls, rep.Latency[Healthy])
	}
}

func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	own := startOwn(t, OwnConfig{"ok", "read-timeout"})
	cfg := small(own, None)
	cfg.Failure, cfg.Attempt = time.Minute, 20*time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 1200*ms)
	defer cancel()
	start := time.Now()
	rep, err := Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 1200*ms || took > 1200*ms+slack {
		t.Errorf("it ended after %v, want 1.2s, and not much more", took)
	}
	if !rep.Interrupted || rep.Calls.Canceled == 0 || rep.Calls.Good == 0 || rep.Calls.Due >= 100 {
		t.Errorf("interrupted %v, calls %+v, want some good, some canceled", rep.Interrupted, rep.Calls)
	}
	if l := own.partner.Listeners()[0]; l.Mode != "ok" {
		t.Errorf("the partner is left with %s, want ok", l.Mode)
	}
}

// brokenPartner cannot be broken, or not be asked.
type brokenPartner struct {
	*Own
	counts atomic.Int64
	set    error
	after  int64 // so many counts are had
}

var errBroken = errors.New("it does not answer")

func (b *brokenPartner) Set(ctx context.Context, failing bool) error {
	if b.set != nil && failing {
		return b.set
	}
	return b.Own.Set(ctx, failing)
}

func (b *brokenPartner) Counts(ctx context.Context) (Counts, error) {
	if b.counts.Add(1) > b.after {
		return Counts{}, errBroken
	}
	return b.Own.Counts(ctx)
}

func TestRunEndsWithItsPartner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   error
		after int64
	}{
		{"at first", nil, 0},
		{"in the middle", nil, 1},
		{"when it is to be broken", errBroken, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			own := startOwn(t, OwnConfig{"ok", "status"})
			cfg := small(&brokenPartner{Own: own, set: c.set, after: c.after}, None)
			cfg.Recovery = time.Minute
			start := time.Now()
			if _, err := Run(t.Context(), cfg); !errors.Is(err, errBroken) {
				t.Errorf("got error %v, want %v", err, errBroken)
			}
			if took := time.Since(start); took > 5*time.Second+slack {
				t.Errorf("it took %v to give up", took)
			}
		})
	}
}

func TestStartOwnRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []OwnConfig{{"no-such-fault", "ok"}, {"ok", "slow:delay=-1s"}, {"", ""}} {
		if own, err := StartOwn(c); err == nil {
			_ = own.Close(t.Context())
			t.Errorf("StartOwn(%+v): no error", c)
		}
	}
}

func TestFlat(t *testing.T) {
	t.Parallel()
	own := startOwn(t, OwnConfig{"ok", "ok"})
	got, err := own.Flat(t.Context(), 200*ms)
	if err != nil || got < 10 {
		t.Errorf("got %v requests/s, %v, want what any machine can do", got, err)
	}
}
