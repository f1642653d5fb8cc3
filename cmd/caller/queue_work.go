package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/cmd/internal/cli"
	"chaoslab/internal/jsonobject"
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

A store that fails (a full disk, a lock that others hold) is tried again twice a
second and told of once a minute; nothing is lost. With --until-idle the command
ends with that error if it lasts for 5 seconds.

What an outcome means is looked up in a table: --print-table shows it, --table
FILE replaces it.`,
		Example: `  caller queue work --once
  caller queue work --workers 4 --metrics 127.0.0.1:9100
  caller queue work --print-table > table.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.RefuseEmpty(cmd, "table", "metrics"); err != nil {
				return err
			}
			switch {
			case printTable:
				enc := lineEncoder(s.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(httpsend.DefaultTable())
			case o.workers < 1 || o.workers > retryqueue.MaxWorkers:
				return cli.Usagef("--workers %d is out of range: from 1 to %d", o.workers, retryqueue.MaxWorkers)
			case o.batch < 1 || o.batch > retryqueue.MaxBatch:
				return cli.Usagef("--batch %d is out of range: from 1 to %d", o.batch, retryqueue.MaxBatch)
			case o.once && (o.untilIdle || o.workers > 1 || o.batch > 1):
				return cli.Usagef("--once does one job: --until-idle, --workers and --batch do not go with it")
			}
			if err := cmp.Or(o.checkTimes(), o.checkMetrics()); err != nil {
				return err
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

// checkTimes holds those durations that end up in the store or the library, which
// has other bounds than a flag.
func (o *queueWorkOptions) checkTimes() error {
	for _, f := range []struct {
		name    string
		d, most time.Duration
	}{
		{"lease", o.lease.D, retryqueue.MaxLease},
		{"poll", o.poll.D, cli.MaxDuration},
		{"backoff-base", o.base.D, backoff.MaxDelay},
		{"backoff-cap", o.cap.D, backoff.MaxDelay},
	} {
		if f.d < time.Millisecond || f.d > f.most || f.d%time.Millisecond != 0 {
			return cli.Usagef("--%s %v is out of range: whole milliseconds from 1ms to %v", f.name, f.d, f.most)
		}
	}
	return nil
}

func (o *queueWorkOptions) checkMetrics() error {
	if o.metrics == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(o.metrics)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return cli.Usagef("--metrics %q: write HOST:PORT, such as 127.0.0.1:9100", o.metrics)
	}
	return nil
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
		out := &workReport{s: s, json: o.format.Value == "json", again: storeAgain}
		observe := out.tell
		if o.metrics != "" {
			m, stop, err := serveMetrics(o.metrics, store, s)
			if err != nil {
				return err
			}
			defer stop()
			observe = func(r retryqueue.Report) { m.Observe(r); out.tell(r) }
		}
		send := httpsend.New(caller, table).Send
		if o.once {
			return errors.Join(o.workOnce(ctx, store, send, observe, s), out.err)
		}
		err := o.work(ctx, store, send, observe)
		if err == nil && o.untilIdle && ctx.Err() != nil {
			err = cli.Exit(cli.ExitInterrupted, errors.New("interrupted before the queue was idle"))
		}
		return errors.Join(err, out.err)
	})
}

type sendFunc = func(context.Context, retryqueue.Job) error

func (o *queueWorkOptions) work(ctx context.Context, store retryqueue.Store, send sendFunc, observe func(retryqueue.Report)) error {
	queue, err := retryqueue.New(retryqueue.Config{
		Store: store, Send: send, Lease: o.lease.D, Renew: o.renew, Observe: observe,
		Backoff: retryqueue.Backoff{Base: o.base.D, Cap: o.cap.D, Seed: rand.Uint64()},
	})
	if err != nil {
		return cli.Usagef("%w", err)
	}
	return queue.Work(ctx, retryqueue.WorkConfig{
		Workers: o.workers, Batch: o.batch, Poll: o.poll.D, Grace: o.grace.D, UntilIdle: o.untilIdle || o.once,
	})
}

// workOnce does at most one job. It is a worker that is stopped once it has sent
// something, and not Queue.RunOnce, so that a signal treats both alike: the send
// may end within the grace, or else the job is given back.
func (o *queueWorkOptions) workOnce(ctx context.Context, store retryqueue.Store, send sendFunc, observe func(retryqueue.Report), s cli.Streams) error {
	wctx, stop := context.WithCancel(ctx)
	defer stop()
	var did retryqueue.Report
	err := o.work(wctx, store,
		func(ctx context.Context, job retryqueue.Job) error {
			defer stop()
			return send(ctx, job)
		},
		func(r retryqueue.Report) {
			if r.Outcome != retryqueue.Idle {
				did = r
				stop()
			}
			if !aboutStore(r) { // that is the error which is returned
				observe(r)
			}
		})
	switch {
	case err != nil:
		return err
	case did.Outcome == retryqueue.Unclassified, did.Outcome == retryqueue.Lost, did.Outcome == retryqueue.Failed, errors.Is(did.Err, retryqueue.ErrClockBackwards):
		return did.Err
	case did.Outcome == retryqueue.Idle && ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted before anything was sent"))
	case did.Outcome == retryqueue.Idle:
		fmt.Fprintln(s.Err, "nothing is due")
	}
	return nil
}

func readTable(path string) (httpsend.Table, error) {
	if path == "" {
		return httpsend.DefaultTable(), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := httpsend.Table{}
	err = jsonobject.EachKey(text, func(key string, value json.RawMessage) error {
		if _, twice := t[key]; twice {
			return errors.New("it stands twice: which one is meant?")
		}
		var v httpsend.Verdict
		err := json.Unmarshal(value, &v)
		if len(value) == 0 || value[0] != '"' {
			err = v.UnmarshalText(value)
		}
		t[key] = v
		return err
	})
	if err == nil {
		err = t.Check()
	}
	if err != nil {
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
