package budgetcaller

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
)

// lookup is a Config.Lookup that always fails with err or gives addrs.
func lookup(err error, addrs ...netip.Addr) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) { return addrs, err }
}

func TestLookupAndConnectFail(t *testing.T) {
	t.Parallel()
	bare := func(class Class, limit Limit, least time.Duration, p ...Phase) want {
		return want{class: class, limit: limit, phases: p, effects: none(), expected: -1, least: least}
	}
	never := func(ctx context.Context, _ string) ([]netip.Addr, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	noHost := &net.DNSError{Err: "no such host", Name: "nowhere.test", IsNotFound: true}
	port := refusedPort(t)
	for _, tt := range []struct {
		name, url string
		cfg       Config
		budget    time.Duration
		want      want
		err       error
	}{
		{"refused", "http://127.0.0.1:" + port, Config{}, 5 * time.Second, bare(ClassRefused, LimitNone, 0, PhaseConnect), nil},
		{"refused, https", "https://127.0.0.1:" + port, Config{}, 5 * time.Second, bare(ClassRefused, LimitNone, 0, PhaseConnect), nil},
		{
			// The kernel knows no way to a broadcast address for TCP, loopback's own
			// included, so this says "unreachable" without a packet.
			"no route", "http://127.255.255.255:9/", Config{}, 5 * time.Second, bare(ClassUnreachable, LimitNone, 0, PhaseConnect), nil,
		},
		{"no such name", "http://nowhere.test/", Config{Lookup: lookup(noHost)}, 5 * time.Second, bare(ClassLookupFailed, LimitNone, 0, PhaseLookup), noHost},
		{"no addresses", "http://nowhere.test/", Config{Lookup: lookup(nil)}, 5 * time.Second, bare(ClassLookupFailed, LimitNone, 0, PhaseLookup), nil},
		{
			"silent resolver", "http://nowhere.test/",
			Config{Lookup: never, Limits: Limits{Connect: 200 * ms}},
			5 * time.Second,
			bare(ClassConnectTimeout, LimitConnect, 200*ms, PhaseLookup), nil,
		},
		{
			"silent resolver, budget", "http://nowhere.test/",
			Config{Lookup: never},
			200 * ms,
			bare(ClassBudgetExhausted, LimitBudget, 199*ms, PhaseLookup), nil,
		},
		{
			"silent resolver, attempt", "http://nowhere.test/",
			Config{Lookup: never, Limits: Limits{Attempt: 200 * ms}},
			5 * time.Second,
			bare(ClassAttemptTimeout, LimitAttempt, 200*ms, PhaseLookup), nil,
		},
		{
			"every address refuses", "http://two.test:" + port,
			Config{Lookup: lookup(nil, loopback4(), loopback4())},
			5 * time.Second,
			bare(ClassRefused, LimitNone, 0, PhaseConnect), nil,
		},
		{
			// What said no says more than what knows no way.
			"unreachable and refused", "http://two.test:" + port,
			Config{Lookup: lookup(nil, netip.MustParseAddr("127.255.255.255"), loopback4())},
			5 * time.Second,
			bare(ClassRefused, LimitNone, 0, PhaseConnect), nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rec := once(t, newCaller(t, tt.cfg), tt.budget, get(t, tt.url))
			tt.want.check(t, rec)
			if rec.Nth != 0 || rec.Local.IsValid() || rec.Remote.IsValid() || rec.Reused {
				t.Errorf("request %d from %v to %v, reused %v, though there was no connection", rec.Nth, rec.Local, rec.Remote, rec.Reused)
			}
			if tt.err != nil && !errors.Is(rec.Err, tt.err) {
				t.Errorf("error %v, want it to hold %v", rec.Err, tt.err)
			}
		})
	}
}

func loopback4() netip.Addr { return netip.MustParseAddr("127.0.0.1") }

// A cancel ends the attempt wherever it stands.
func TestCancel(t *testing.T) {
	t.Parallel()
	silent := serve(t, (*peer).hold)
	inBody := serve(t, func(p *peer) {
		p.request()
		p.send(half())
		p.hold()
	})
	never := func(ctx context.Context, _ string) ([]netip.Addr, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, tt := range []struct {
		name, url string
		cfg       Config
		phase     Phase
		effect    Effect
	}{
		{"in the lookup", "http://never.test/", Config{Lookup: never}, PhaseLookup, EffectNone},
		{"in the handshake", "https://" + silent.host, Config{}, PhaseTLS, EffectNone},
		{"before the first byte", silent.url("/"), Config{}, PhaseFirstByte, EffectUnknown},
		{"in the body", inBody.url("/"), Config{}, PhaseBody, EffectUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCaller(t, tt.cfg)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			time.AfterFunc(100*ms, cancel)
			res, err := runIn(ctx, t, c, 5*time.Second, get(t, tt.url), nil)
			if err != nil {
				t.Fatal(err)
			}
			rec := res.Last()
			if rec.Class != ClassCanceled || rec.Limit != LimitNone || rec.Phase != tt.phase || rec.Effect != tt.effect {
				t.Errorf("%v, limit %v, in %v, effect %v (%v); want canceled in %v, effect %v", rec.Class, rec.Limit, rec.Phase, rec.Effect, rec.Err, tt.phase, tt.effect)
			}
			if rec.Elapsed > 100*ms+late(rec.Start) {
				t.Errorf("canceled after 100ms, ended after %v", rec.Elapsed)
			}
		})
	}
	t.Run("before the start", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		cancel()
		before := silent.conns.Load()
		res, err := runIn(ctx, t, newCaller(t, Config{}), 5*time.Second, get(t, "http://"+silent.host), nil)
		if err != nil || res.Last().Class != ClassCanceled || res.Last().Phase != PhaseNone || silent.conns.Load() < before {
			t.Errorf("%+v, %v; want canceled, never started", res, err)
		}
	})
}

// A deadline of the caller's own that is earlier than the budget is the budget.
func TestContextDeadlineIsTheBudget(t *testing.T) {
	t.Parallel()
	silent := serve(t, (*peer).hold)
	c := newCaller(t, Config{})
	outer, cancel, err := Begin(t.Context(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	ctx, cancelInner := context.WithTimeout(outer, 150*ms)
	defer cancelInner()
	res, err := runIn(ctx, t, c, 150*ms, get(t, silent.url("/")), nil)
	if err != nil {
		t.Fatal(err)
	}
	want{
		class: ClassBudgetExhausted, limit: LimitBudget, phases: in(PhaseFirstByte), effects: unknown(),
		expected: -1, least: 149 * ms,
	}.check(t, res.Last())
	if got := res.Last().Configured; got < 100*ms || got > 150*ms {
		t.Errorf("configured %v, want what the context had left, 150ms at most", got)
	}
}
