package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/labs/sandbox"
)

const local = "http://127.0.0.1:8080/"

func failing(err error) func(cli.Streams) *cobra.Command {
	return func(cli.Streams) *cobra.Command {
		return &cobra.Command{Use: "caller", RunE: func(*cobra.Command, []string) error { return err }}
	}
}

// always answers every run with m.
func always(m measurement) func(context.Context, int) (budgetcaller.Result, error) {
	return func(context.Context, int) (budgetcaller.Result, error) { return m.result, nil }
}

func TestExpect(t *testing.T) {
	t.Parallel()
	mixed := func(_ context.Context, n int) (budgetcaller.Result, error) {
		if n%2 == 0 {
			return refused(n).result, nil
		}
		return cut(n, 500*time.Millisecond, time.Millisecond).result, nil
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		line string
	}{
		{"a refusal is a result", []string{local}, cli.ExitOK, ""},
		{"met", []string{local, "-n", "4", "--expect", "read_timeout,refused"}, cli.ExitOK, ""},
		{
			"not met",
			[]string{local, "-n", "4", "--expect", "read_timeout"},
			cli.ExitFailed, "caller: expected read_timeout, but 2 of 4 runs ended otherwise: refused 2\n",
		},
		{
			"none met",
			[]string{local, "-n", "4", "--expect", "ok,status"},
			cli.ExitFailed, "caller: expected ok or status, but 4 of 4 runs ended otherwise: refused 2, read_timeout 2\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := measureWith(t, context.Background(), mixed, nil, c.args...)
			if code != c.code || errs != c.line || out == "" {
				t.Errorf("%q: code %d, stderr %q, stdout %q; want code %d, stderr %q and the results", c.args, code, errs, out, c.code, c.line)
			}
		})
	}
}

func TestInterruptedRunsAreStillPrinted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(context.Background())
	run := func(ctx context.Context, n int) (budgetcaller.Result, error) {
		if n < 3 {
			return cut(n, 500*time.Millisecond, time.Millisecond).result, nil
		}
		interrupt()
		<-ctx.Done()
		return measured(n, budgetcaller.Record{
			Class: budgetcaller.ClassCanceled, Phase: budgetcaller.PhaseFirstByte,
			Effect: budgetcaller.EffectUnknown, Elapsed: 100 * time.Millisecond, Expected: -1, Err: context.Canceled,
		}).result, nil
	}
	code, out, errs := measureWith(t, ctx, run, nil, local, "-n", "50", "--format", "json", "--expect", "read_timeout")
	if code != cli.ExitInterrupted || !strings.HasSuffix(errs, "caller: interrupted after 3 of 50 runs\n") {
		t.Errorf("code %d, stderr %q; want 130 and how far it came", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 4 || !strings.Contains(lines[2], `"run":3,`) || !strings.Contains(lines[2], `"class":"canceled"`) || !strings.Contains(lines[3], summarySchema) {
		t.Errorf("stdout\n%s\nwant three runs, the last canceled, and the summary", out)
	}
}

func TestRunsAtATimeAndInAll(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	run := func(_ context.Context, n int) (budgetcaller.Result, error) {
		at := now.Add(1)
		defer now.Add(-1)
		for {
			old := most.Load()
			if at <= old || most.CompareAndSwap(old, at) {
				break
			}
		}
		time.Sleep(5 * time.Millisecond)
		return whole(n, 5*time.Millisecond).result, nil
	}
	code, out, _ := measureWith(t, context.Background(), run, nil, local, "http://127.0.0.1:8081/", "-n", "20", "-c", "4", "--format", "json")
	if code != 0 || strings.Count(out, measureSchema) != 40 || strings.Count(out, summarySchema) != 2 {
		t.Errorf("code %d and %d runs, %d summaries; want 0, 40, 2", code, strings.Count(out, measureSchema), strings.Count(out, summarySchema))
	}
	if got := most.Load(); got < 2 || got > 4 {
		t.Errorf("%d runs at a time, want up to 4 and more than one", got)
	}
}

func TestIntervalIsKept(t *testing.T) {
	t.Parallel()
	start := time.Now()
	code, _, _ := measureWith(t, context.Background(), always(whole(1, time.Millisecond)), nil, local, "-n", "4", "-c", "4", "--interval", "30ms")
	if took := time.Since(start); code != 0 || took < 85*time.Millisecond {
		t.Errorf("code %d after %v, want 0 after three intervals of 30ms", code, took)
	}
}

func TestARequestThatCannotBeSentEndsIt(t *testing.T) {
	t.Parallel()
	run := func(ctx context.Context, n int) (budgetcaller.Result, error) {
		return budgetcaller.Result{}, errors.New("no such thing")
	}
	code, out, errs := measureWith(t, context.Background(), run, nil, local, "-n", "50", "-c", "2")
	if code != cli.ExitFailed || errs != "caller: http://127.0.0.1:8080/: no such thing\n" || out != "" {
		t.Errorf("code %d, stderr %q, stdout %q; want 1 and one line", code, errs, out)
	}
}

func TestPartnersRecord(t *testing.T) {
	t.Parallel()
	theirs := []faults.Entry{{
		Kind: sawRequest, Listener: "hang", Mode: "read-timeout", Elapsed: 500, EndedBy: "client", How: "closed",
		EndedAt: float64(time.Now().UnixMilli()),
	}}
	older := []faults.Entry{{Kind: sawRequest, EndedBy: "client", EndedAt: float64(time.Now().Add(-time.Minute).UnixMilli())}}
	going := []faults.Entry{{Kind: sawConnection, Listener: "hang"}}
	hang := []faults.Listener{{Name: "hang", URL: local}}
	for _, c := range []struct {
		name   string
		m      measurement
		ledger fakeLedger
		url    string
		want   string // in the line
		warned string
	}{
		{
			"found", cut(1, 500*time.Millisecond, 700*time.Microsecond),
			fakeLedger{urls: hang, entries: theirs},
			local,
			`"partner":{"saw":"request","listener":"hang","elapsed_ms":500,"ended_by":"client","how":"closed","difference_ms":0.7,"effect":false}`, "",
		},
		{"not found", cut(1, time.Second, 0), fakeLedger{urls: hang}, local, `"partner":{"saw":"nothing","listener":"hang"}`, ""},
		{"somebody else's port before", cut(1, time.Second, 0), fakeLedger{urls: hang, entries: older}, local, `"partner":{"saw":"nothing","listener":"hang"}`, ""},
		{"still going on", cut(1, time.Second, 0), fakeLedger{urls: hang, entries: going}, local, `"partner":{"saw":"connection","listener":"hang"}`, ""},
		{"never connected", refused(1), fakeLedger{urls: hang, entries: theirs}, local, `"partner":{"saw":"nothing","listener":"hang"}`, ""},
		{"other name of loopback", cut(1, time.Second, 0), fakeLedger{urls: hang, entries: theirs}, "http://localhost:8080/x", `"saw":"request"`, ""},
		{"not its listener", refused(1), fakeLedger{urls: hang}, "http://127.0.0.1:9/", `"partner":null`, "is no listener of the partner"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := measureWith(t, context.Background(), always(c.m), c.ledger, c.url, "--partner", "http://127.0.0.1:8079", "--format", "json")
			if code != 0 || !strings.Contains(out, c.want) || !strings.Contains(errs, c.warned) {
				t.Errorf("code %d, stdout %s, stderr %q; want 0, %s and %q", code, out, errs, c.want, c.warned)
			}
		})
	}
}

func TestPartnerAloneMeasuresItsListeners(t *testing.T) {
	t.Parallel()
	both := []faults.Listener{{Name: "refused", URL: local}, {Name: "slow", URL: "http://127.0.0.1:8081"}}
	code, out, errs := measureWith(t, context.Background(), always(refused(1)), fakeLedger{urls: both}, "--partner", "http://127.0.0.1:8079")
	if code != 0 || errs != "" || !strings.Contains(out, "\nslow") || !strings.Contains(out, "127.0.0.1:8081") {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant both listeners", code, errs, out)
	}
}

func TestPartnerWhereNoneIs(t *testing.T) {
	t.Parallel()
	code, out, errs := measureWith(t, context.Background(), always(refused(1)), fakeLedger{err: errors.New("connection refused")}, local, "--partner", "http://127.0.0.1:8079")
	if code != cli.ExitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "partner --mode all") {
		t.Errorf("code %d, stdout %q, stderr %q; want 1 and one line that says what to do", code, out, errs)
	}
}

func TestInterruptedBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(context.Background())
	interrupt()
	code, out, errs := measureWith(t, ctx, always(refused(1)), fakeLedger{err: context.Canceled}, local, "--partner", "http://127.0.0.1:8079")
	if code != cli.ExitInterrupted || out != "" || errs != "caller: interrupted before the first run\n" {
		t.Errorf("code %d, stdout %q, stderr %q; want 130 and one line", code, out, errs)
	}
}

func TestPartnerWithManyListenersIsCapped(t *testing.T) {
	t.Parallel()
	code, _, errs := measureWith(t, context.Background(), always(refused(1)), fakeLedger{urls: []faults.Listener{{URL: "http://example.com/"}}}, "--partner", "http://127.0.0.1:8079", "-n", "301")
	if code != cli.ExitUsage || !strings.Contains(errs, "at most 300") {
		t.Errorf("code %d, stderr %q; want 2 and the cap", code, errs)
	}
}

func TestTestNetIsWarnedAbout(t *testing.T) {
	t.Parallel()
	for url, warned := range map[string]bool{
		"http://" + blackHole().String():                 true,
		"http://[::ffff:" + blackHole().String() + "]:8": true,
		"http://192.0.3.1/":                              false,
	} {
		_, _, errs := measureWith(t, context.Background(), always(refused(1)), nil, url)
		if got := strings.Contains(errs, "caller sandbox --"); got != (warned && !sandbox.Inside()) {
			t.Errorf("%s: stderr %q, want a warning %v", url, errs, warned)
		}
	}
}
