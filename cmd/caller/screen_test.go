package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/cli"
)

// screenSlack is how much later than exact a line may be on a busy machine.
const screenSlack = 400 * time.Millisecond

// orderPartners are the partners of examples/screen/order.yaml.
func orderPartners(t *testing.T) (bases []string) {
	t.Helper()
	var asked atomic.Int64
	after := func(w http.ResponseWriter, r *http.Request, d time.Duration, status int) {
		select {
		case <-time.After(d):
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"took": "`+d.String()+`"}`)
		case <-r.Context().Done():
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"A": func(w http.ResponseWriter, r *http.Request) { after(w, r, 300*time.Millisecond, 200) },
		"B": func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1)%2 == 1 {
				after(w, r, 250*time.Millisecond, 503)
				return
			}
			after(w, r, 400*time.Millisecond, 200)
		},
		"C": func(_ http.ResponseWriter, _ *http.Request) { t.Error("C was called") },
	} {
		srv := httptest.NewServer(handler)
		t.Cleanup(srv.Close)
		bases = append(bases, "--base", name+"="+srv.URL)
	}
	return bases
}

// runCaller runs the whole command line.
func runCaller(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Run(ctx, newRoot, args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

// The example on the wire: every figure at its value and not before.
func TestR2ScreenOnTheWire(t *testing.T) {
	t.Parallel()
	args := append([]string{"screen", "../../examples/screen/order.yaml", "--format", "json"}, orderPartners(t)...)
	code, out, errs := runCaller(t.Context(), args...)
	if code != 0 || errs != "" {
		t.Fatalf("code %d, stderr %q", code, errs)
	}
	got := screenObject{screenOutcome: &screenOutcome{}}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Schema != "caller.screen/1" || len(got.Lines) != 4 || len(got.Degraded) != 1 || got.Degraded[0] != "C" {
		t.Fatalf("got %s", out)
	}
	const ms = time.Millisecond
	for i, want := range []struct {
		part                string
		try                 int
		left                time.Duration // at most, and less by slack
		limit, waited, used time.Duration
		class               string
		called              bool
	}{
		{"A", 1, 2000 * ms, 400 * ms, 0, 300 * ms, "ok", true},
		{"B", 1, 1700 * ms, 600 * ms, 0, 250 * ms, "status", true},
		{"B", 2, 1450 * ms, 600 * ms, 200 * ms, 400 * ms, "ok", true},
		{"C", 1, 850 * ms, 0, 0, 0, "below_floor", false},
	} {
		l := got.Lines[i]
		near := func(name string, got cli.Millis, want time.Duration) {
			t.Helper()
			if d := time.Duration(got) - want; d < 0 || d > screenSlack {
				t.Errorf("line %d: %s %v, want %v", i+1, name, time.Duration(got), want)
			}
		}
		if l.Part != want.part || l.Try != want.try || l.Class != want.class || l.Called != want.called {
			t.Errorf("line %d: %+v, want %+v", i+1, l, want)
		}
		near("waited", l.Waited, want.waited)
		near("used", l.Used, want.used)
		near("spent before", cli.Millis(2*time.Second)-l.Left, 2*time.Second-want.left)
		if want.called && (l.LimitMs == nil || time.Duration(*l.LimitMs) != want.limit) {
			t.Errorf("line %d: limit %v, want %v", i+1, l.LimitMs, want.limit)
		}
	}
	if d := time.Duration(got.Elapsed); d < 1150*ms || d > 1150*ms+screenSlack {
		t.Errorf("elapsed %v, want 1.15s", d)
	}
	if string(got.Answer) != `{"A":{"took":"300ms"},"B":{"took":"400ms"},"C":null,"degraded":["C"]}` {
		t.Errorf("answer %s", got.Answer)
	}
}

// r2Result is the screen of the example with its very figures.
func r2Result() *screen.Result {
	const ms = time.Millisecond
	ok, below := budgetcaller.ClassOK, budgetcaller.ClassBelowFloor
	body, floor := budgetcaller.PhaseBody, budgetcaller.LimitFloor
	line := func(part string, try int, at, limit, waited, used time.Duration) screen.Line {
		left := 2000*ms - at
		return screen.Line{
			Part: part, Try: try, At: at, Left: left, Limit: limit, Waited: waited, Used: used,
			LeftAfter: left - waited - used, Called: true, Class: ok, Phase: body, Status: 200,
		}
	}
	b1 := line("B", 1, 300*ms, 600*ms, 0, 250*ms)
	b1.Class, b1.Status, b1.Why = budgetcaller.ClassStatus, 503, "status 503"
	c := screen.Line{Part: "C", Try: 1, At: 1150 * ms, Left: 850 * ms, LeftAfter: 850 * ms, Class: below, Fired: floor, Why: "850ms left, floor 1s"}
	value := func(text string) any { return json.RawMessage(text) }
	return &screen.Result{
		Screen: "order", Budget: 2 * time.Second, Elapsed: 1150 * ms, Left: 850 * ms, Degraded: []string{"C"},
		Parts: []screen.Outcome{
			{
				Name: "A", Required: true, Value: value(`{"a":1}`), Source: screen.SourceCall, Class: ok, Phase: body, Effect: budgetcaller.EffectAnswered, Status: 200, Called: true,
				Left: 2000 * ms, Used: 300 * ms, LeftAfter: 1700 * ms, Lines: []screen.Line{line("A", 1, 0, 400*ms, 0, 300*ms)},
			},
			{
				Name: "B", Required: true, Value: value(`"<b>"`), Source: screen.SourceCall, Class: ok, Phase: body, Effect: budgetcaller.EffectAnswered, Status: 200, Called: true,
				At: 300 * ms, Left: 1700 * ms, Waited: 200 * ms, Used: 650 * ms, LeftAfter: 850 * ms, Lines: []screen.Line{b1, line("B", 2, 550*ms, 600*ms, 200*ms, 400*ms)},
			},
			{
				Name: "C", Class: below, Limit: floor, Why: c.Why, Err: errors.New("C: not called: 850ms left, floor 1s"),
				At: 1150 * ms, Left: 850 * ms, LeftAfter: 850 * ms, Lines: []screen.Line{c},
			},
		},
	}
}

// longResult has the longest words and the widest figures, and fallbacks.
func longResult() *screen.Result {
	const name = "recommendations-for-a-customer"
	lines := []screen.Line{
		{Part: name, Try: 1, Left: 9 * time.Minute, Limit: 9 * time.Minute, Used: 539 * time.Second, LeftAfter: time.Second, Called: true, Class: budgetcaller.ClassConnectTimeout, Phase: budgetcaller.PhaseFirstByte, Fired: budgetcaller.LimitRead},
		{Part: name, Try: 2, At: 539 * time.Second, Left: time.Second, LeftAfter: time.Second, Class: budgetcaller.ClassBudgetExhausted, Why: "a-word-that-is-longer-than-its-column and some more of them"},
		{Part: name, Fallback: true, At: 539 * time.Second, Left: time.Second, Limit: time.Second, Used: time.Millisecond, LeftAfter: 999 * time.Millisecond, Called: true, Class: budgetcaller.ClassOK, Phase: budgetcaller.PhaseBody},
		{Part: "rates", Try: 1, At: 539 * time.Second, Left: time.Second, Limit: time.Second, Used: 10 * time.Microsecond, LeftAfter: time.Second, Called: true, Why: "panic: oh no"},
	}
	return &screen.Result{
		Screen: "long", Budget: 10 * time.Minute, Reserve: time.Minute, Elapsed: 540 * time.Second, Left: time.Minute, Degraded: []string{},
		Parts: []screen.Outcome{
			{Name: name, Required: true, Value: 1, Source: screen.SourceFallback, Class: budgetcaller.ClassConnectTimeout, Why: "no attempts left", Err: errors.New("x"), Lines: lines[:3]},
			{Name: "rates", Required: true, Value: 2, Source: screen.SourceOld, Age: 5 * time.Minute, Why: "panic: oh no", Err: errors.New("x"), Lines: lines[3:]},
		},
	}
}

func TestScreenReports(t *testing.T) {
	t.Parallel()
	failed := r2Result()
	failed.Parts[2].Required = true
	failed.Err = &screen.Error{Screen: "order", Part: "C", Class: budgetcaller.ClassBelowFloor, Err: failed.Parts[2].Err}
	held := []screen.Note{
		{Topic: screen.TopicAttempts, Part: "price", Verdict: screen.CannotHold, Text: "attempt limit 2s × 3 = 6s and waits of up to 300ms: more than the 2s that the parts have"},
		{Topic: screen.TopicRequired, Text: "everything is required, so the availabilities multiply: 5 at 99.9 % make 99.5 %"},
	}
	for _, tt := range []struct {
		name  string
		plan  *screenPlan
		notes []screen.Note
		res   *screen.Result
	}{
		{"r2", &screenPlan{name: "order", budget: screen.For(2*time.Second, ""), reserve: screen.For(screen.NoReserve, "")}, nil, r2Result()},
		{"failed", &screenPlan{name: "order", budget: screen.For(2*time.Second, "")}, held, failed},
		{"long", &screenPlan{name: "long", budget: screen.For(10*time.Minute, ""), reserve: screen.For(time.Minute, "")}, nil, longResult()},
	} {
		for _, format := range []string{"table", "json", "csv"} {
			var out bytes.Buffer
			r := &screenReport{plan: tt.plan, notes: tt.notes, format: format, to: cli.Streams{Out: &out}}
			if err := r.result(tt.res); err != nil {
				t.Errorf("%s %s: %v", tt.name, format, err)
			}
			golden(t, "screen_"+tt.name+"."+format, out.String())
			if format == "csv" {
				if _, err := csv.NewReader(&out).ReadAll(); err != nil {
					t.Errorf("%s: %v", tt.name, err)
				}
			}
			r.to.Out = failingWriter{}
			if err := r.result(tt.res); err == nil {
				t.Errorf("%s %s to a writer that fails: no error", tt.name, format)
			}
		}
	}
}

func TestScreenCheckReports(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "json", "csv"} {
		code, out, errs := runCaller(t.Context(), "screen", "../../examples/screen/cannot-hold.yaml", "--check", "--format", format)
		const want = "caller: cannot hold: this plan cannot hold: price: attempt limit 2s × 3 = 6s and waits of up to 300ms: more than the 1.95s that the parts have\n"
		if code != cli.ExitFailed || errs != want {
			t.Errorf("%s: code %d, stderr %q; want 1, %q", format, code, errs, want)
		}
		golden(t, "screen_check."+format, out)
	}
}

// Who gives up gets the account so far and 130.
func TestScreenInterrupted(t *testing.T) {
	t.Parallel()
	called := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called <- struct{}{}
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-called; cancel() }()
	code, out, errs := runCaller(ctx, "screen", "../../examples/screen/order.yaml", "--base", "A="+srv.URL)
	if code != cli.ExitInterrupted || !strings.Contains(out, "canceled") || errs != "caller: interrupted: the table shows how far it came\n" {
		t.Errorf("code %d, stdout %s, stderr %q; want 130 and the table", code, out, errs)
	}
}
