package main

import (
	"bufio"
	"bytes"
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
deadline_ms and available_at_ms (Unix milliseconds). An id that is known changes
nothing, so that handing the same jobs in again is safe. The id is sent as
Idempotency-Key.`,
		Example: `  caller queue add http://127.0.0.1:8080/ --id order-17 --deadline-in 1h
  caller queue add - < jobs.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("data") {
				o.data = &data
			}
			switch {
			case len(args) == 0:
				return cli.Usagef("nothing to add: give a URL and --id, or - to read JSON Lines from stdin")
			case args[0] != "-" && o.id == "":
				return cli.Usagef("--id: missing: it names the job for ever and is sent as Idempotency-Key")
			case args[0] == "-" && (o.id != "" || o.data != nil || o.method != "" || len(o.headers) > 0 || o.after.IsSet):
				return cli.Usagef("with -, the lines on stdin say what is sent: only --deadline-in and --max-attempts go with it")
			case args[0] != "-":
				o.url = args[0]
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
	now := nowMillis()
	read := linesOf(s.In, addDefaults{o.within.D.Milliseconds(), o.attempts}, now)
	if o.url != "" {
		job, err := o.job(s.In, now)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		given := false
		read = func() (retryqueue.NewJob, error) {
			if given {
				return job, io.EOF
			}
			given = true
			return job, nil
		}
	}
	return o.store.with(ctx, func(store retryqueue.Store) error {
		queue, err := retryqueue.New(retryqueue.Config{Store: store})
		if err != nil {
			return err
		}
		a := &adder{queue: queue, s: s, json: o.format.Value == "json"}
		err = a.all(ctx, read)
		if !a.json {
			fmt.Fprintf(s.Out, "added %d, known %d\n", a.fresh, a.known)
		}
		return err
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
	return job, job.Check(now)
}

// linesOf returns a function that reads the next job, io.EOF at the end. Empty
// lines are passed over.
func linesOf(r io.Reader, d addDefaults, now retryqueue.Millis) func() (retryqueue.NewJob, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxJobLine)
	n := 0
	return func() (retryqueue.NewJob, error) {
		for lines.Scan() {
			n++
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			job, err := parseJobLine(line, d, now)
			if err != nil {
				return job, fmt.Errorf("line %d: %w", n, err)
			}
			return job, nil
		}
		if err := lines.Err(); err != nil {
			return retryqueue.NewJob{}, fmt.Errorf("line %d: %w", n+1, err)
		}
		return retryqueue.NewJob{}, io.EOF
	}
}

// adder hands jobs in, many at a time, and tells what became of them.
type adder struct {
	queue        *retryqueue.Queue
	s            cli.Streams
	json         bool
	fresh, known int
}

const addAtOnce = 500

// all hands in what read returns until io.EOF. After a bad line, the jobs before
// it are in.
func (a *adder) all(ctx context.Context, read func() (retryqueue.NewJob, error)) error {
	bar := cli.NewProgress(a.s.Err, -1, "adding")
	defer bar.Close()
	for {
		var jobs []retryqueue.NewJob
		var rerr error
		for len(jobs) < addAtOnce {
			job, err := read()
			if err != nil {
				rerr = err
				break
			}
			jobs = append(jobs, job)
		}
		added, err := a.queue.Add(ctx, jobs...)
		if err := a.tell(added); err != nil {
			return err
		}
		bar.Add(len(added))
		switch {
		case err != nil:
			return fmt.Errorf("%w; %d jobs before it are in, handing all in again is safe", err, a.fresh+a.known)
		case errors.Is(rerr, io.EOF):
			return nil
		case rerr != nil:
			return fmt.Errorf("%w; %d jobs before it are in, handing all in again is safe", rerr, a.fresh+a.known)
		}
	}
}

// addSchema names the form of the JSON line of a job handed in.
const addSchema = "caller.queue.add/1"

type addLine struct {
	Schema  string           `json:"schema"`
	ID      string           `json:"id"`
	New     bool             `json:"new"`
	State   retryqueue.State `json:"state"`
	Differs bool             `json:"differs"` // known with another payload
}

func (a *adder) tell(added []retryqueue.Added) error {
	enc := lineEncoder(a.s.Out)
	for _, x := range added {
		if x.New {
			a.fresh++
		} else {
			a.known++
		}
		if x.Differs {
			fmt.Fprintf(a.s.Err, "warning: %s is known with another payload, which stays (it is %v)\n", x.ID, x.State)
		}
		if a.json {
			if err := enc.Encode(addLine{addSchema, x.ID, x.New, x.State, x.Differs}); err != nil {
				return err
			}
		}
	}
	return nil
}
