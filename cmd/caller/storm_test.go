package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/storm"
)

// stormArgs returns the options of a command line, which is not run.
func stormArgs(t *testing.T, args string) (*stormOptions, error) {
	t.Helper()
	var seen *stormOptions
	cmd := newStorm(cli.Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, func(_ context.Context, o *stormOptions, _ cli.Streams) error {
		seen = o
		return nil
	})
	cmd.SetArgs(strings.Fields(args))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return seen, cmd.Execute()
}

// mustStorm is stormArgs for a command line that is right.
func mustStorm(t *testing.T, args string) *stormOptions {
	t.Helper()
	var seen *stormOptions
	cmd := newStorm(cli.Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, func(_ context.Context, o *stormOptions, _ cli.Streams) error {
		seen = o
		return nil
	})
	cmd.SetArgs(strings.Fields(args))
	if err := cmd.Execute(); err != nil {
		t.Fatalf("storm %s: %v", args, err)
	}
	return seen
}

// From the command line to the runs.
func TestStormFlags(t *testing.T) {
	t.Parallel()
	const standard = "20 x 100 x 5 up to 10000/s, attempt 500ms, patience 1s, 2s 3s 6s"
	for _, c := range []struct {
		args string
		want []string
	}{
		{"", []string{standard + " none"}},
		{"--policy jitter,breaker", []string{standard + " jitter", standard + " breaker"}},
		{"--policy all", []string{standard + " none", standard + " backoff", standard + " jitter", standard + " throttle", standard + " breaker", standard + " deadline"}},
		{
			"--instances 2 --rate 3 --attempts 4 --attempt-timeout 50ms --patience 60ms --healthy 1s --failure 2s --recovery 3s",
			[]string{"2 x 3 x 4 up to 24/s, attempt 50ms, patience 60ms, 1s 2s 3s none"},
		},
	} {
		var got []string
		for _, r := range mustStorm(t, c.args).runs {
			got = append(got, fmt.Sprintf("%d x %d x %d up to %d/s, attempt %v, patience %v, %v %v %v %v",
				r.Instances, r.Rate, r.Attempts, r.Load(), r.Attempt, r.Patience, r.Healthy, r.Failure, r.Recovery, r.Policy))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("storm %s:\n got %q\nwant %q", c.args, got, c.want)
		}
	}
}

func FuzzPolicyList(f *testing.F) {
	for _, s := range []string{"none", "all", "backoff,jitter", "none,none", ",", "", " none , deadline "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var l, again policyList
		if l.Set(s) != nil {
			return
		}
		if err := again.Set(l.String()); err != nil || l.String() != again.String() || len(l) == 0 {
			t.Errorf("Set(%q) gives %v, read back %v, %v", s, l, again, err)
		}
	})
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		most   float64
		want   string
	}{
		{nil, 1, ""},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 8, "▁▁▂▃▄▅▆▇█"},
		{[]float64{0, 0.1, 100, -1}, 100, "▁▁█▁"},
		{[]float64{200}, 100, "█"},
		{[]float64{0, 5}, 0, "▁▁"},
	} {
		if got := sparkline(c.values, c.most); got != c.want {
			t.Errorf("sparkline(%v, %v) = %q, want %q", c.values, c.most, got, c.want)
		}
	}
	if got := squeeze([]float64{1, 3, 5, 7, 9, 11}, 3); fmt.Sprint(got) != "[2 6 10]" {
		t.Errorf("squeezed: %v, want [2 6 10]", got)
	}
}

// aStorm makes up a run.
func aStorm(seed uint64) stormRun {
	r := rand.New(rand.NewPCG(seed, 0))
	cfg, _ := storm.Config{
		Instances: 1 + r.IntN(storm.MaxInstances), Attempts: 1 + r.IntN(20), Rate: 1, Policy: storm.Policy(r.IntN(6)), Partner: remotePartner{},
		Healthy: time.Duration(1+r.IntN(300_000)) * time.Millisecond, Failure: time.Second, Recovery: time.Second,
	}.Complete()
	run := stormRun{
		usual: "ok", failing: "slow:delay=uniform(1s,2s),when=every=3,for=10s", capacity: float64(r.IntN(2) * 4000), flat: float64(r.IntN(60_000)),
		Report: &storm.Report{
			Config: cfg, Peak: r.Float64() * 60_000, Recovered: storm.Recovered{After: time.Duration(r.IntN(300_000)) * time.Millisecond, Ok: r.IntN(2) == 0},
			Calls:    storm.Calls{Due: r.IntN(500_000), Good: r.IntN(500_000), Late: r.IntN(500_000), Failed: r.IntN(500_000), Dropped: r.IntN(2) * r.IntN(500_000)},
			Attempts: storm.Attempts{First: r.IntN(500_000), Retried: r.IntN(10_000_000), Classes: []storm.ClassCount{{Class: budgetcaller.ClassPoolTimeout, N: r.IntN(100)}}},
			Partner:  storm.Counts{Received: 1, Orphaned: time.Duration(r.IntN(200_000)) * time.Second},
			Machine:  storm.Machine{Cores: 2, Busy: 1.5, Others: float64(r.IntN(2)) - 1, LateMax: time.Duration(r.IntN(10_000)) * time.Millisecond, LateP99: time.Duration(r.IntN(300)) * time.Millisecond},
		},
	}
	for n := range 1 + r.IntN(300) {
		from := time.Duration(n) * time.Second
		run.Seconds = append(run.Seconds, storm.Second{
			From: from, To: from + time.Second, Phase: storm.Phase(r.IntN(4)), Due: r.IntN(50_000), First: r.IntN(50_000), Retried: r.IntN(50_000),
			Rate: r.Float64() * 60_000, Good: r.IntN(50_000), Late: r.IntN(50_000), Failed: r.IntN(50_000), Partner: storm.Counts{Orphaned: time.Duration(r.IntN(2000)) * time.Second},
		})
	}
	return run
}

// Whatever was measured: the report is there and fits the page.
func TestStormReportsFit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		for _, runs := range [][]stormRun{nil, {aStorm(seed)}, {aStorm(seed), aStorm(seed + 1), aStorm(seed + 2)}} {
			var out bytes.Buffer
			if err := reportStorm(&out, newStormOptions(), runs); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > cli.Width || strings.HasSuffix(line, " ") {
					t.Fatalf("seed %d: %d columns, or blanks at the end: %q", seed, n, line)
				}
			}
		}
	}
}

func TestStormReports(t *testing.T) {
	t.Parallel()
	at := func(n int, phase storm.Phase, rate float64, retried, good, failed int) storm.Second {
		from := time.Duration(n) * time.Second
		return storm.Second{
			From: from, To: from + time.Second, Phase: phase, Due: 100, First: 100, Retried: retried, Rate: rate, Good: good, Failed: failed,
			Partner: storm.Counts{Received: uint64(rate), Orphaned: time.Duration(failed) * time.Millisecond}, Busy: 0.25, Others: -1,
		}
	}
	run := func(p storm.Policy, back bool) stormRun {
		cfg, err := storm.Config{Instances: 10, Rate: 10, Policy: p, Partner: remotePartner{}, Healthy: time.Second, Failure: time.Second, Recovery: time.Second}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		last := at(2, storm.Recovery, 499, 399, 10, 90)
		if back {
			last = at(2, storm.Recovery, 110, 10, 95, 5)
		}
		return stormRun{
			usual: "ok", failing: "status", capacity: 200,
			Report: &storm.Report{
				Config: cfg, Budget: 3 * time.Second, Peak: 500, Recovered: storm.Recovered{Ok: back},
				Seconds: []storm.Second{at(0, storm.Healthy, 100, 0, 100, 0), at(1, storm.Failure, 500, 400, 0, 100), last},
				Calls:   storm.Calls{Due: 300, Good: 100 + last.Good, Failed: 100 + last.Failed}, Attempts: storm.Attempts{First: 300, Retried: 400 + last.Retried},
				Partner: storm.Counts{Received: 1099, Orphaned: 190 * time.Millisecond},
				Latency: [storm.Ending]storm.Latency{{N: 100, P50: time.Millisecond, P99: 2 * time.Millisecond, Max: 3 * time.Millisecond}},
				Machine: storm.Machine{Cores: 2, Busy: 0.25, Others: -1, LateP99: time.Millisecond, LateMax: 5 * time.Millisecond},
			},
		}
	}
	for _, c := range []struct {
		name string
		runs []stormRun
	}{
		{"one", []stormRun{run(storm.None, false)}},
		{"several", []stormRun{run(storm.None, false), run(storm.Throttle, true)}},
	} {
		for _, format := range []string{"table", "json", "csv"} {
			o := newStormOptions()
			o.format.Value = format
			var out bytes.Buffer
			if err := reportStorm(&out, o, c.runs); err != nil {
				t.Errorf("%s, %s: %v", c.name, format, err)
			}
			golden(t, "storm_"+c.name+"."+format, out.String())
			broken := &errWriter{w: failingWriter{}}
			if err := errors.Join(reportStorm(broken, o, c.runs), broken.err); !errors.Is(err, os.ErrClosed) {
				t.Errorf("%s, %s to a writer that fails: %v, want %v", c.name, format, err, os.ErrClosed)
			}
		}
	}
}

func TestStormIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	code := cli.Run(ctx, newRoot, strings.Fields("storm --policy all --rate 1 --failing status"), cli.Streams{Out: &out, Err: &errs})
	if code != cli.ExitInterrupted || !strings.Contains(errs.String(), "interrupted in run 1 of 6") || !strings.Contains(out.String(), "healthy") {
		t.Errorf("exit code %d, stdout %q, stderr %q, want %d and what was measured", code, out.String(), errs.String(), cli.ExitInterrupted)
	}
}
