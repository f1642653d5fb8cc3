package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/cmd/internal/cli"
)

func TestRetryFlags(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		args   []string
		want   budgetcaller.Retry
		limits string // at the end of those in force
	}{
		{"none", nil, budgetcaller.Retry{}, "floor 1 ms (default)"},
		{
			"defaults",
			[]string{"--attempts", "3"},
			budgetcaller.Retry{Attempts: 3, Backoff: backoff.Config{Base: 100 * ms, Cap: time.Second}},
			"floor 1 ms (default), attempts 3, backoff 100 ms (default), cap 1 s (default), jitter full (default)",
		},
		{
			"all",
			[]string{"--attempts", "5", "--backoff", "50ms", "--cap", "200ms", "--jitter", "none"},
			budgetcaller.Retry{Attempts: 5, Backoff: backoff.Config{Base: 50 * ms, Cap: 200 * ms, Jitter: backoff.None}},
			"attempts 5, backoff 50 ms, cap 200 ms, jitter none",
		},
		{
			"a base beyond the default cap",
			[]string{"--attempts", "2", "--backoff", "2s"},
			budgetcaller.Retry{Attempts: 2, Backoff: backoff.Config{Base: 2 * time.Second}},
			"attempts 2, backoff 2 s, cap 2 s (default), jitter full (default)",
		},
	} {
		o, code, errs := parseArgs(t, "", append(c.args, local)...)
		if code != 0 {
			t.Errorf("%s: %q: code %d, stderr %q", c.name, c.args, code, errs)
			continue
		}
		if got := o.config().Default.Retry; got != c.want || !strings.HasSuffix(o.limits(), c.limits) {
			t.Errorf("%s: %q: retry %+v, limits %q; want %+v and %q", c.name, c.args, got, o.limits(), c.want, c.limits)
		}
	}
}

func TestRetryFlagsRefuseUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		line string // part of the one line
	}{
		{"no attempts", []string{local, "--attempts", "0"}, "--attempts 0: from 1 to 100"},
		{"too many", []string{local, "--attempts", "101"}, "--attempts 101: from 1 to 100"},
		{"a wait for nothing", []string{local, "--backoff", "1s"}, "write --attempts 3, too"},
		{"jitter for nothing", []string{local, "--jitter", "full"}, "write --attempts 3, too"},
		{"a fraction of a millisecond", []string{local, "--attempts", "2", "--backoff", "1500us"}, "whole milliseconds"},
		{"cap below base", []string{local, "--attempts", "2", "--backoff", "1s", "--cap", "10ms"}, "--backoff 1s, --cap 10ms: "},
		{"backoff 0", []string{local, "--attempts", "2", "--backoff", "0"}, "--backoff"},
		{"backoff none", []string{local, "--attempts", "2", "--backoff", "none"}, "--backoff"},
		{"other jitter", []string{local, "--attempts", "2", "--jitter", "0.5"}, `"0.5" is none of full, equal, none`},
		{"empty key", []string{local, "--idempotency-key", ""}, "printable ASCII"},
		{"a key with a line break", []string{local, "--idempotency-key", "a\nb"}, "printable ASCII"},
		{"two keys", []string{local, "--idempotency-key", "a", "--header", "idempotency-key: b"}, "choose one"},
		{"attempts beyond the cap", []string{local, "-n", "50000", "--attempts", "3"}, "-n 50000 with up to 3 attempts each for 1 URL(s) is too many for loopback: at most 100000 attempts in all"},
		{"attempts elsewhere", []string{"http://example.com/", "-n", "101", "--attempts", "3"}, "at most 300 attempts in all"},
	} {
		o, code, errs := parseArgs(t, "", c.args...)
		if o != nil || code != cli.ExitUsage || !strings.Contains(errs, c.line) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %q: ran %v, code %d, stderr %q; want code 2 and one line with %q", c.name, c.args, o != nil, code, errs, c.line)
		}
	}
}

func TestEachCallHasItsKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want func(first, second string) bool
	}{
		{nil, func(a, b string) bool { return a == "" && b == "" }},
		{[]string{"--idempotency-key", "order-1"}, func(a, b string) bool { return a == "order-1" && b == a }},
		{[]string{"--idempotency-key", "auto"}, func(a, b string) bool { return len(a) > 20 && len(b) > 20 && a != b }},
	} {
		o, _, errs := parseArgs(t, "", append(c.args, local)...)
		if first, second := o.callKey(), o.callKey(); !c.want(first, second) {
			t.Errorf("%q: keys %q and %q, stderr %q", c.args, first, second, errs)
		}
	}
}

// fakeDoer answers every call with what it is told.
type fakeDoer func(ctx context.Context, req *http.Request) (*budgetcaller.Answer, error)

func (f fakeDoer) Do(ctx context.Context, req *http.Request) (*budgetcaller.Answer, error) {
	return f(ctx, req)
}

func TestHowACallEndedIsTold(t *testing.T) {
	t.Parallel()
	hang := cut(1, 500*time.Millisecond, time.Millisecond).last()
	busy := budgetcaller.Record{Class: budgetcaller.ClassStatus, Phase: budgetcaller.PhaseBody, Effect: budgetcaller.EffectAnswered, Status: 503, RetryAfter: "9"}
	for _, c := range []struct {
		name   string
		answer *budgetcaller.Answer
		err    *budgetcaller.Error
		want   []string // in the line
	}{
		{
			"answered at last",
			&budgetcaller.Answer{Status: 200, Result: budgetcaller.Result{Attempts: []budgetcaller.Record{hang, whole(2, time.Millisecond).last()}}},
			nil,
			[]string{`"class":"ok"`, `"effect":"unknown"`, `"attempts":2`, `"stopped":"answered"`, `"attempts_detail":[{"attempt":1,`, `{"attempt":2,`},
		},
		{
			"a status to the end",
			&budgetcaller.Answer{Status: 503, Why: "no attempts left", Result: budgetcaller.Result{Attempts: []budgetcaller.Record{busy, busy}}},
			nil,
			[]string{`"class":"status"`, `"status":503`, `"attempts":2`, `"stopped":"no attempts left"`},
		},
		{
			"the wait does not fit",
			nil,
			&budgetcaller.Error{
				Class: budgetcaller.ClassBelowFloor, Limit: budgetcaller.LimitFloor, Why: "the Retry-After does not fit",
				Attempts: []budgetcaller.Record{busy}, Last: &busy, Effect: budgetcaller.EffectAnswered,
			},
			[]string{`"class":"below_floor","phase":"none","limit":"floor"`, `"status":503`, `"attempts":1`, `"stopped":"the Retry-After does not fit"`, `"retry_after":"9"`, `last failure: status`},
		},
		{
			"never begun",
			nil,
			&budgetcaller.Error{Class: budgetcaller.ClassBelowFloor, Limit: budgetcaller.LimitFloor, Configured: time.Second},
			[]string{`"class":"below_floor"`, `"configured_ms":1000`, `"attempts":0`, `"stopped":"less than the floor is left"`, `"effect":"none"`},
		},
		{
			"the budget is the whole one",
			nil,
			&budgetcaller.Error{
				Class: budgetcaller.ClassBudgetExhausted, Phase: budgetcaller.PhaseFirstByte, Limit: budgetcaller.LimitBudget,
				Configured: 100 * time.Millisecond, Why: "it would fail again", Attempts: []budgetcaller.Record{hang}, Last: &hang,
			},
			[]string{`"limit":"budget"`, `"configured_ms":3000`, `"stopped":"the budget is spent"`, `"overshoot_ms":0`},
		},
		{
			"given up while waiting",
			nil,
			&budgetcaller.Error{Class: budgetcaller.ClassCanceled, Phase: budgetcaller.PhaseBackoff, Attempts: []budgetcaller.Record{hang}, Last: &hang, Effect: hang.Effect},
			[]string{`"class":"canceled","phase":"backoff","limit":"none","effect":"unknown","configured_ms":null`, `"overshoot_ms":null`, `"stopped":"whoever called gave up"`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			do := fakeDoer(func(context.Context, *http.Request) (*budgetcaller.Answer, error) {
				if c.err != nil {
					return nil, c.err
				}
				return c.answer, nil
			})
			code, out, errs := measureDoing(t, do, local, "--attempts", "3", "--budget", "3s", "--format", "json")
			if code != 0 {
				t.Fatalf("code %d, stderr %q", code, errs)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("line %s\nwant %s in it", out, want)
				}
			}
		})
	}
}

func TestACallThatCannotBeSentEndsIt(t *testing.T) {
	t.Parallel()
	do := fakeDoer(func(context.Context, *http.Request) (*budgetcaller.Answer, error) {
		return nil, errors.New("no such thing")
	})
	code, out, errs := measureDoing(t, do, local, "--attempts", "3")
	if code != cli.ExitFailed || errs != "caller: http://127.0.0.1:8080/: no such thing\n" || out != "" {
		t.Errorf("code %d, stderr %q, stdout %q; want 1 and one line", code, errs, out)
	}
}
