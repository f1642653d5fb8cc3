package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
	"chaoslab/labs/retryqueue/queueprom"
)

// queueWorkOptions is what the flags of work say.
type queueWorkOptions struct {
	store     *queueStore
	once      bool
	untilIdle bool
	workers   int
	batch     int
	renew     bool

	lease, poll, grace, base, cap cli.Duration
	connect, read                 cli.Duration

	table   string
	metrics string
	format  cli.Choice
}

func newQueueWork(s cli.Streams, store *queueStore) *cobra.Command {
	o := &queueWorkOptions{
		store:   store,
		lease:   cli.Duration{D: retryqueue.DefaultLease},
		poll:    cli.Duration{D: retryqueue.DefaultPoll},
		grace:   cli.Duration{D: retryqueue.DefaultGrace},
		base:    cli.Duration{D: retryqueue.DefaultBase},
		cap:     cli.Duration{D: retryqueue.DefaultCap},
		connect: cli.Duration{D: budgetcaller.DefaultConnect},
		read:    cli.Duration{D: cli.None, AllowNone: true},
		format:  cli.Format("table", "json"),
	}
	var printTable bool
	cmd := &cobra.Command{
		Use:   "work",
		Short: "send what is due, once or until it is stopped",
		Long: `work claims what is due, sends it and writes down what became of it. An attempt
is spent when it is claimed. SIGINT or SIGTERM lets sends finish; what takes
longer than --grace is cut off and given back, but not its attempt.

The budget of an attempt ends before its lease and its deadline do. With --renew
the lease is renewed while it is sent, and only the deadline bounds it.

What an outcome means is looked up in a table: --print-table shows it, --table
FILE replaces it.`,
		Example: `  caller queue work --once
  caller queue work --workers 4 --metrics 127.0.0.1:9100
  caller queue work --print-table > table.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case printTable:
				enc := json.NewEncoder(s.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(httpsend.DefaultTable())
			case o.workers < 1 || o.workers > retryqueue.MaxWorkers:
				return cli.Usagef("--workers %d is out of range: from 1 to %d", o.workers, retryqueue.MaxWorkers)
			case o.batch < 1 || o.batch > retryqueue.MaxBatch:
				return cli.Usagef("--batch %d is out of range: from 1 to %d", o.batch, retryqueue.MaxBatch)
			case o.once && (o.untilIdle || o.workers > 1 || o.batch > 1):
				return cli.Usagef("--once does one job: --until-idle, --workers and --batch do not go with it")
			}
			return runQueueWork(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.once, "once", false, "do at most one job")
	f.BoolVar(&o.untilIdle, "until-idle", false, "end when nothing is due")
	f.IntVar(&o.workers, "workers", 1, "jobs or batches at once")
	f.IntVar(&o.batch, "batch", 1, "jobs taken and sent together")
	f.BoolVar(&o.renew, "renew", false, "renew leases while sending")
	f.Var(&o.lease, "lease", "keeps a job from others")
	f.Var(&o.poll, "poll", "longest wait while idle")
	f.Var(&o.grace, "grace", "for sends after a stop")
	f.Var(&o.base, "backoff-base", "first wait, before jitter")
	f.Var(&o.cap, "backoff-cap", "longest wait, before jitter")
	f.Var(&o.connect, "connect-timeout", "limit for lookup, TCP and TLS")
	f.Var(&o.read, "read-timeout", "limit for silence")
	f.StringVar(&o.table, "table", "", "a JSON file: what outcomes mean")
	f.BoolVar(&printTable, "print-table", false, "print what outcomes mean, and end")
	f.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics on this address")
	f.Var(&o.format, "format", "how it is printed")
	return cmd
}

func runQueueWork(ctx context.Context, o *queueWorkOptions, s cli.Streams) error {
	table, err := readTable(o.table)
	if err != nil {
		return cli.Usagef("--table: %w", err)
	}
	caller, err := budgetcaller.New(budgetcaller.Config{
		Limits:          budgetcaller.Limits{Connect: o.connect.D, Read: o.read.D},
		MaxConnsPerHost: min(o.workers*o.batch, 1024),
	})
	if err != nil {
		return cli.Usagef("%w", err)
	}
	defer caller.Close()
	return o.store.with(ctx, func(store retryqueue.Store) error {
		out := &workReport{s: s, json: o.format.Value == "json"}
		observe := out.tell
		if o.metrics != "" {
			m, stop, err := serveMetrics(o.metrics, store, s)
			if err != nil {
				return err
			}
			defer stop()
			observe = func(r retryqueue.Report) { m.Observe(r); out.tell(r) }
		}
		queue, err := retryqueue.New(retryqueue.Config{
			Store: store, Send: httpsend.New(caller, table).Send, Lease: o.lease.D, Renew: o.renew, Observe: observe,
			Backoff: retryqueue.Backoff{Base: o.base.D, Cap: o.cap.D, Seed: rand.Uint64()},
		})
		if err != nil {
			return cli.Usagef("%w", err)
		}
		if o.once {
			r, err := queue.RunOnce(ctx)
			observe(r)
			if r.Outcome == retryqueue.Idle {
				fmt.Fprintln(s.Err, "nothing is due")
			}
			return errors.Join(err, out.err)
		}
		err = queue.Work(ctx, retryqueue.WorkConfig{Workers: o.workers, Batch: o.batch, Poll: o.poll.D, Grace: o.grace.D, UntilIdle: o.untilIdle})
		return errors.Join(err, out.err)
	})
}

func readTable(path string) (httpsend.Table, error) {
	if path == "" {
		return httpsend.DefaultTable(), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t httpsend.Table
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// serveMetrics serves /metrics on addr until the function it returns is called.
func serveMetrics(addr string, store retryqueue.Store, s cli.Streams) (*queueprom.Metrics, func(), error) {
	reg := prometheus.NewRegistry()
	m, err := queueprom.New(reg, store, nowMillis)
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, nil, fmt.Errorf("--metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // until it is closed
	}()
	fmt.Fprintf(s.Err, "metrics on http://%s/metrics\n", l.Addr())
	return m, func() { _ = server.Close(); <-done }, nil
}

// workSchema names the form of the JSON line of one step.
const workSchema = "caller.queue.work/1"

type workLine struct {
	Schema      string             `json:"schema"`
	Outcome     retryqueue.Outcome `json:"outcome"`
	ID          string             `json:"id,omitempty"`
	Attempt     int                `json:"attempt,omitempty"`
	MaxAttempts int                `json:"max_attempts,omitempty"`
	Reason      retryqueue.Reason  `json:"reason"`
	AvailableAt retryqueue.Millis  `json:"available_at_ms,omitempty"`
	Took        cli.Millis         `json:"took_ms"`
	Error       string             `json:"error,omitempty"`
}

// workReport prints what workers did. Its tell is called by all of them.
type workReport struct {
	s    cli.Streams
	json bool

	mu  sync.Mutex
	err error // of writing
}

func (w *workReport) tell(r retryqueue.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range r.Ended {
		w.line(retryqueue.Report{Outcome: retryqueue.GivenUp, Job: j, Err: errors.New("found without time or attempts")})
	}
	if r.Outcome != retryqueue.Idle {
		w.line(r)
	}
}

func (w *workReport) line(r retryqueue.Report) {
	l := workLine{Schema: workSchema, Outcome: r.Outcome, ID: r.Job.ID, Attempt: r.Job.Attempts, MaxAttempts: r.Job.MaxAttempts, Reason: r.Job.Reason, AvailableAt: r.Job.AvailableAt, Took: cli.Millis(r.Took)}
	if r.Err != nil {
		l.Error = errorText(r.Err)
	}
	if w.json {
		w.err = errors.Join(w.err, lineEncoder(w.s.Out).Encode(l))
		return
	}
	text := fmt.Sprintf("%-12v %s", r.Outcome, l.ID)
	if l.Attempt > 0 || l.MaxAttempts > 0 {
		text += fmt.Sprintf("  attempt %d of %d", l.Attempt, l.MaxAttempts)
	}
	if l.Reason != retryqueue.ReasonNone {
		text += "  " + l.Reason.String()
	}
	if l.AvailableAt > 0 {
		text += "  again in " + cli.Show(max(0, l.AvailableAt.Sub(nowMillis())))
	}
	if r.Took > 0 {
		text += "  " + cli.Show(r.Took)
	}
	if l.Error != "" {
		text += "  (" + l.Error + ")"
	}
	_, err := fmt.Fprintln(w.s.Out, text)
	w.err = errors.Join(w.err, err)
}
