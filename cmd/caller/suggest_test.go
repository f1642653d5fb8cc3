package main

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// suggestArgs runs suggest with args up to the point where it would measure.
func suggestArgs(t *testing.T, args ...string) (o *suggestOptions, code int, errs string) {
	t.Helper()
	var stderr bytes.Buffer
	s := cli.Streams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &stderr}
	code = cli.Run(t.Context(), func(s cli.Streams) *cobra.Command {
		root := &cobra.Command{Use: "caller"}
		root.AddCommand(newSuggest(s, func(_ context.Context, got *suggestOptions, _ cli.Streams) error {
			o = got
			return nil
		}))
		return root
	}, append([]string{"suggest"}, args...), s)
	return o, code, stderr.String()
}

// suggestWith suggests from what run answers.
func suggestWith(t *testing.T, ctx context.Context, run func(ctx context.Context, n int) (budgetcaller.Result, error), args ...string) (code int, out, errs string) {
	t.Helper()
	o, code, line := suggestArgs(t, args...)
	if code != 0 {
		t.Fatalf("%q: code %d, stderr %q", args, code, line)
	}
	o.now = func() time.Time { return time.Date(2025, 5, 1, 12, 0, 0, 0, time.UTC) }
	var stdout, stderr bytes.Buffer
	err := suggest(ctx, o, &fakeRunner{run: run}, cli.Streams{Out: &stdout, Err: &stderr})
	return exitCode(err, &stderr), stdout.String(), stderr.String()
}

func TestSuggestDefaults(t *testing.T) {
	t.Parallel()
	o, code, errs := suggestArgs(t, local)
	if code != 0 || o.runs != 200 || o.parallel != 1 || o.factor != 3 || o.budget.D != 10*time.Second || o.retries.any() {
		t.Errorf("code %d, stderr %q, options %+v; want 200 calls one at a time, factor 3, at most 10 s each", code, errs, o)
	}
	if l := o.config().Limits; l.Read != budgetcaller.NoLimit || l.Attempt != budgetcaller.NoLimit {
		t.Errorf("limits %+v: a limit would hide what is to be measured", l)
	}
}

func TestSuggestRefusesUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		line string // part of the one line
	}{
		{"nothing", nil, "caller suggest http://127.0.0.1:8080/"},
		{"two URLs", []string{local, local}, "2 URLs: limits are suggested for one at a time"},
		{"no scheme", []string{"127.0.0.1:8080"}, "did you mean"},
		{"ten times the p99", []string{local, "--factor", "10"}, "--factor 10: above 1, or it cuts good calls, and below 10, which is as good as no limit"},
		{"the p99 itself", []string{local, "--factor", "1"}, "--factor 1: above 1"},
		{"no number", []string{local, "--factor", "NaN"}, "--factor NaN"},
		{"too few calls", []string{local, "-n", "99"}, "-n 99: a p99 needs at least 100 calls"},
		{"no calls", []string{local, "-n", "0"}, "-n 0: at least 1"},
		{"too many elsewhere", []string{"http://example.com/", "-n", "301"}, "at most 300 runs in all"},
		{"too many at a time elsewhere", []string{"http://example.com/", "-c", "5"}, "at most 4"},
		{"no end", []string{local, "--budget", "none"}, "--budget"},
	} {
		if o, code, errs := suggestArgs(t, c.args...); o != nil || code != cli.ExitUsage || !strings.Contains(errs, c.line) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %q: ran %v, code %d, stderr %q; want code 2 and one line with %q", c.name, c.args, o != nil, code, errs, c.line)
		}
	}
}

func TestALimitFromTheP99(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name      string
		p99       time.Duration
		factor    float64
		value     time.Duration
		low, high time.Duration // 0: null
		reason    string
	}{
		{"of 120 ms: 300 to 500 ms", 120 * ms, 3, 360 * ms, 300 * ms, 500 * ms, "p99 of 120 ms x 3"},
		{"rounded up to two digits", 118400 * time.Microsecond, 3, 360 * ms, 300 * ms, 493 * ms, "p99 of 118.4 ms x 3"},
		{"in seconds", 1234 * ms, 4, 5 * time.Second, 3100 * ms, 5141 * ms, "p99 of 1234 ms x 4"},
		{"a fraction as factor", 20 * ms, 2.5, 50 * ms, 50 * ms, 83 * ms, "p99 of 20 ms x 2.5"},
		{"raised to the least", 300 * time.Microsecond, 3, leastLimit, 0, 0, "p99 of 0.3 ms x 3, raised to the least"},
		{"exactly the least", 5 * ms, 2, leastLimit, 13 * ms, 20 * ms, "p99 of 5 ms x 2"},
	} {
		got := fromP99("attempt", c.p99, c.factor)
		low, high := time.Duration(0), time.Duration(0)
		if got.Low != nil {
			low, high = time.Duration(*got.Low), time.Duration(*got.High)
		}
		if time.Duration(got.Value) != c.value || low != c.low || high != c.high || got.Reason != c.reason {
			t.Errorf("%s: p99 %v x %v: %v, %v to %v, %q; want %v, %v to %v, %q",
				c.name, c.p99, c.factor, time.Duration(got.Value), low, high, got.Reason, c.value, c.low, c.high, c.reason)
		}
	}
}

// steady answers call n of 1, 2, 3 … in n/2 ms or, if every so manyth is to, as
// other does.
func steady(every int, other measurement) func(context.Context, int) (budgetcaller.Result, error) {
	return func(_ context.Context, n int) (budgetcaller.Result, error) {
		if every > 0 && n%every == 0 {
			return other.result, nil
		}
		return whole(n, time.Duration(n)*500*time.Microsecond).result, nil
	}
}

func outOfBudget() measurement {
	return measured(1, budgetcaller.Record{
		Class: budgetcaller.ClassBudgetExhausted, Phase: budgetcaller.PhaseFirstByte, Limit: budgetcaller.LimitBudget,
		Effect: budgetcaller.EffectUnknown, Configured: 10 * time.Second, Elapsed: 10 * time.Second, Expected: -1, Err: budgetcaller.ErrBudgetExhausted,
	})
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		every  int // 0: all good
		other  measurement
		code   int
		golden string
		line   string // of stderr
	}{
		{"good", 0, measurement{}, cli.ExitOK, "suggest_good", ""},
		// p99 is the 198th of 200 and the slowest two are the ones given up.
		{"one of a hundred was given up", 100, outOfBudget(), cli.ExitOK, "suggest_beyond", ""},
		{
			"more were",
			50, outOfBudget(), cli.ExitFailed, "suggest_unknown",
			"caller: nothing to suggest for http://127.0.0.1:8080/: more than 1 of 100 calls took longer than the 10 s they had, so the p99 is not known: budget_exhausted 4; give them longer with --budget\n",
		},
		{"some failed", 4, refused(1), cli.ExitOK, "suggest_some", ""},
		{
			"too many failed",
			1, refused(1), cli.ExitFailed, "suggest_none",
			"caller: nothing to suggest for http://127.0.0.1:8080/: 0 of 200 calls were good, and a p99 needs at least 100: refused 200\n",
		},
	} {
		for _, format := range []string{"table", "json", "csv"} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				t.Parallel()
				code, out, errs := suggestWith(t, t.Context(), steady(c.every, c.other), local, "--format", format)
				if code != c.code || errs != c.line {
					t.Errorf("code %d, stderr %q; want %d, %q", code, errs, c.code, c.line)
				}
				golden(t, c.golden+"."+format, out)
			})
		}
	}
}

// What is printed to be pasted is accepted by the commands it is for, with its
// reason, and holds no query.
func TestSuggestedLinesCanBePasted(t *testing.T) {
	t.Parallel()
	for _, url := range []string{local, `http://127.0.0.1:8080/a'b"c:%20#?key=secret`} {
		o := observed{}
		for n := range 200 {
			o.add(whole(n+1, 40*time.Millisecond))
		}
		p := o.suggest(mustTarget(t, url), 3, time.Now(), time.Second).toPaste()
		all := strings.Join(append(p.Layers, p.Plan...), "\n")
		if strings.Contains(all, "secret") || len(p.Layers) != 1 || len(p.Plan) != 2 {
			t.Errorf("%s: %s\nwant three lines and no query", url, all)
		}
		chain, err := chainOf("layers:\n  - name: shop\n    " + p.Layers[0] + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if audit, err := chain.Audit(); err != nil || len(audit.Warnings) > 0 || chain.Layers[0].Limit.D != 120*time.Millisecond {
			t.Errorf("%s: %+v, %v, warnings %v", p.Layers[0], chain, err, audit.Warnings)
		}
		plan, err := parsePlan("budget: 2s\nparts:\n  - name: shop\n    url: /\n    " + strings.Join(p.Plan, "\n    ") + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.groups[0][0].floor; got.D != 41*time.Millisecond || !strings.HasPrefix(got.Reason, "p90 of 40 ms") {
			t.Errorf("%s: floor %+v", all, got)
		}
	}
}

func TestSuggestInterruptedSaysSo(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	run := func(_ context.Context, n int) (budgetcaller.Result, error) {
		if n == 50 {
			interrupt()
		}
		return whole(n, time.Millisecond).result, nil
	}
	code, out, errs := suggestWith(t, ctx, run, local, "--format", "json")
	if code != cli.ExitInterrupted || !strings.Contains(errs, "caller: interrupted after ") || !strings.Contains(out, `"limits":[]`) || !strings.Contains(out, `"refused":"5`) {
		t.Errorf("code %d, stderr %q, stdout %s; want 130, how far it came, and no limits", code, errs, out)
	}
}

func TestRoundUp(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for in, want := range map[time.Duration]time.Duration{
		0: leastLimit, ms: leastLimit, 10*ms + 1: 11 * ms, 99*ms + 1: 100 * ms, 100 * ms: 100 * ms, 100*ms + 1: 110 * ms,
		355 * ms: 360 * ms, 1001 * ms: 1100 * ms, 59 * time.Second: 59 * time.Second,
	} {
		if got := roundUp(in); got != want {
			t.Errorf("roundUp(%v) = %v, want %v", in, got, want)
		}
	}
	if math.IsNaN(defaultFactor) || defaultFactor <= leastFactor {
		t.Error("the default factor is out of its own range")
	}
}
