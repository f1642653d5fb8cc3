package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
)

// queueAddOptions is what the flags of add say.
type queueAddOptions struct {
	store    *queueStore
	url      string // empty: jobs come from stdin
	id       string
	within   cli.Duration
	after    cli.Duration // zero: at once
	attempts int
	method   string
	headers  []string
	data     *string
	format   cli.Choice
}

func newQueueAdd(s cli.Streams, store *queueStore) *cobra.Command {
	o := &queueAddOptions{store: store, within: cli.Duration{D: 24 * time.Hour}, format: cli.Format("table", "json")}
	var data string
	cmd := &cobra.Command{
		Use:   "add [URL --id ID | -]",
		Short: "hand in one job, or many as JSON Lines on stdin",
		Long: `add hands in one job; with - as its argument, one a line of stdin:

  {"id":"order-17","url":"http://127.0.0.1:8080/","deadline_in_ms":3600000}

Other keys: method, header (an object), body, body_base64, max_attempts,
deadline_ms and available_at_ms (Unix milliseconds). A deadline from now counts
from when the line was read. A line that is refused is named on stderr, and the
others are in; the exit code is 1 then. When stdin pauses, what came is written.

An id that is known changes nothing, so that handing the same jobs in again is
safe. The id is sent as Idempotency-Key.`,
		Example: `  caller queue add http://127.0.0.1:8080/ --id order-17 --deadline-in 1h
  echo '{"id":"order-18","url":"http://127.0.0.1:8080/"}' | caller queue add -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("data") {
				o.data = &data
			}
			if err := cli.RefuseEmpty(cmd, "method"); err != nil {
				return err
			}
			switch {
			case len(args) == 0:
				return cli.Usagef("nothing to add: give a URL and --id, or - to read JSON Lines from stdin")
			case args[0] == "":
				return cli.Usagef("url: empty: give a URL and --id, or - to read JSON Lines from stdin")
			case args[0] != "-" && o.id == "":
				return cli.Usagef("--id: missing: it names the job for ever and is sent as Idempotency-Key")
			case args[0] == "-" && (o.id != "" || o.data != nil || o.method != "" || len(o.headers) > 0 || o.after.IsSet):
				return cli.Usagef("with -, the lines on stdin say what is sent: only --deadline-in and --max-attempts go with it")
			case args[0] != "-":
				o.url = args[0]
			}
			if err := checkMillis("deadline-in", o.within.D); err != nil {
				return err
			}
			if o.after.D >= o.within.D {
				return cli.Usagef("--available-in %v is not before --deadline-in %v: it could never be sent", o.after.D, o.within.D)
			}
			if o.attempts < 1 || o.attempts > retryqueue.MaxAttempts {
				return cli.Usagef("--max-attempts %d is out of range: from 1 to %d", o.attempts, retryqueue.MaxAttempts)
			}
			return runQueueAdd(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.id, "id", "", "names the job for ever; sent as Idempotency-Key")
	f.Var(&o.within, "deadline-in", "from now to the deadline")
	f.Var(&o.after, "available-in", "not before this much has passed")
	f.IntVar(&o.attempts, "max-attempts", 10, "how often it may be started")
	f.StringVar(&o.method, "method", "", "the method (default POST)")
	f.StringArrayVar(&o.headers, "header", nil, "a header, 'Name: value'; may be repeated")
	f.StringVar(&data, "data", "", "the body; @FILE reads a file, - stdin")
	f.Var(&o.format, "format", "how it is printed")
	return cmd
}

func runQueueAdd(ctx context.Context, o *queueAddOptions, s cli.Streams) error {
	var one *readJob
	if o.url != "" {
		job, err := o.job(newStoppable(ctx, s.In), nowMillis())
		switch {
		case err != nil && ctx.Err() != nil:
			return cli.Exit(cli.ExitInterrupted, errors.New("interrupted: nothing was added"))
		case err != nil:
			return cli.Usagef("%w", err)
		}
		one = &readJob{NewJob: job}
		if o.within.IsSet {
			one.deadline = fromNow
		}
	}
	return o.store.with(ctx, func(store retryqueue.Store) error {
		a, err := newAdder(store, o.format.Value == "json", s)
		if err != nil {
			return err
		}
		if one != nil {
			err = a.one(ctx, *one)
		} else {
			err = a.lines(ctx, s.In, addDefaults{o.within.D.Milliseconds(), o.attempts})
		}
		return a.end(err)
	})
}

// job is the one job of the command line.
func (o *queueAddOptions) job(stdin io.Reader, now retryqueue.Millis) (retryqueue.NewJob, error) {
	r, err := parseRequest(o.method, o.headers, o.data, stdin)
	if err != nil {
		return retryqueue.NewJob{}, err
	}
	if o.method == "" {
		r.method = ""
	}
	for _, h := range o.headers {
		name, value, err := parseHeader(h)
		if err == nil {
			err = httpsend.CheckHeader(name, value)
		}
		if err != nil {
			return retryqueue.NewJob{}, fmt.Errorf("--header %q: %w", h, err)
		}
	}
	req := httpsend.Request{Method: r.method, URL: o.url, Base64: r.body}
	for name, values := range r.header {
		if len(values) > 1 {
			return retryqueue.NewJob{}, fmt.Errorf("--header %s: given twice", name)
		}
		if req.Header == nil {
			req.Header = map[string]string{}
		}
		req.Header[name] = values[0]
	}
	job := retryqueue.NewJob{ID: o.id, Deadline: now.Add(o.within.D), MaxAttempts: o.attempts}
	if o.after.IsSet {
		job.AvailableAt = now.Add(o.after.D)
	}
	if job.Payload, err = req.Encode(); err != nil {
		return job, err
	}
	if n := len(job.Payload); n > retryqueue.MaxPayload && o.data != nil {
		return job, fmt.Errorf("--data: the request is %d bytes with the body in base64, at most %d", n, retryqueue.MaxPayload)
	}
	return job, job.Check(now)
}
