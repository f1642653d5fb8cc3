package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
)

func mustTarget(t *testing.T, raw string) target {
	t.Helper()
	got, err := parseTarget(raw)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func localTarget() target {
	t, _ := parseTarget("http://127.0.0.1:8080/")
	return t
}

// cut is a run that the read limit ended, overshoot late.
func cut(run int, limit, overshoot time.Duration) measurement {
	return measured(run, budgetcaller.Record{
		Class: budgetcaller.ClassReadTimeout, Phase: budgetcaller.PhaseFirstByte,
		Limit: budgetcaller.LimitRead, Effect: budgetcaller.EffectUnknown,
		Configured: limit, Overshoot: overshoot, Elapsed: limit + overshoot, Expected: -1,
		Local: netip.MustParseAddrPort("127.0.0.1:40000"), Nth: 1,
		Err: errors.New("read limit 500ms: no byte of an answer"),
	})
}

// whole is a run that was answered.
func whole(run int, took time.Duration) measurement {
	return measured(run, budgetcaller.Record{
		Class: budgetcaller.ClassOK, Phase: budgetcaller.PhaseBody, Effect: budgetcaller.EffectAnswered,
		Status: 200, Bytes: 3, Expected: 3, Elapsed: took,
		Local: netip.MustParseAddrPort("127.0.0.1:40000"), Nth: run,
	})
}

// refused is a run that met a closed port.
func refused(run int) measurement {
	return measured(run, budgetcaller.Record{
		Class: budgetcaller.ClassRefused, Phase: budgetcaller.PhaseConnect,
		Elapsed: 200 * time.Microsecond, Expected: -1, Err: errors.New("connection refused"),
	})
}

func measured(run int, r budgetcaller.Record) measurement {
	r.Start = time.Now()
	return measurement{run: run, target: localTarget(), result: budgetcaller.Result{
		Attempts: []budgetcaller.Record{r}, Elapsed: r.Elapsed,
	}}
}

// fakeRunner answers run n with what it returns for n, from 1.
type fakeRunner struct {
	calls atomic.Int32
	run   func(ctx context.Context, n int) (budgetcaller.Result, error)
}

func (f *fakeRunner) Run(ctx context.Context, _ *http.Request, _ io.Writer) (budgetcaller.Result, error) {
	return f.run(ctx, int(f.calls.Add(1)))
}

// fakeLedger is a partner with the same entries for everybody.
type fakeLedger struct {
	urls    []faults.Listener
	entries []faults.Entry
	err     error
}

func (f fakeLedger) listeners(context.Context) ([]faults.Listener, error) { return f.urls, f.err }

func (f fakeLedger) find(context.Context, netip.AddrPort, int) ([]faults.Entry, error) {
	return f.entries, f.err
}

// measureWith measures with fakes as the command line args say, and returns the
// exit code and what was printed.
func measureWith(t *testing.T, ctx context.Context, run func(ctx context.Context, n int) (budgetcaller.Result, error), l ledger, args ...string) (code int, out, errs string) {
	t.Helper()
	return measureSeries(t, ctx, series{runner: &fakeRunner{run: run}, ledger: l}, args...)
}

// measureDoing is measureWith for calls that may have several attempts.
func measureDoing(t *testing.T, do doer, args ...string) (code int, out, errs string) {
	t.Helper()
	return measureSeries(t, context.Background(), series{doer: do}, args...)
}

func measureSeries(t *testing.T, ctx context.Context, m series, args ...string) (code int, out, errs string) {
	t.Helper()
	o, code, line := parseArgs(t, "", args...)
	if code != 0 {
		t.Fatalf("%q: code %d, stderr %q", args, code, line)
	}
	var stdout, stderr bytes.Buffer
	s := cli.Streams{Out: &stdout, Err: &stderr}
	m.opts, m.warn = o, &stderr
	return exitCode(m.all(ctx, s), &stderr), stdout.String(), stderr.String()
}

// exitCode returns the code that err leads to, and adds its line to w.
func exitCode(err error, w io.Writer) int {
	return cli.Run(context.Background(), failing(err), []string{}, cli.Streams{Out: io.Discard, Err: w})
}
