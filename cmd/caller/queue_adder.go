package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
)

// Jobs are written together: so many, or so many bytes, or what came within a
// pause of stdin.
const (
	addAtOnce = 500
	addBytes  = 8 << 20
	addPause  = 100 * time.Millisecond
	// addGrace bounds writing what was read after a signal.
	addGrace = 2 * time.Second
)

// readJob is a job as it was handed in.
type readJob struct {
	retryqueue.NewJob
	line     int // it came from; zero: from none
	deadline givenDeadline
}

// givenDeadline is how the deadline was given.
type givenDeadline uint8

const (
	byDefault givenDeadline = iota
	fromNow                 // it differs each time
	absolute
)

func (r readJob) place() string {
	if r.line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", r.line)
}

// adder hands jobs in, many at a time, and tells what became of them.
type adder struct {
	queue *retryqueue.Queue
	s     cli.Streams
	json  bool
	bar   *cli.Progress

	now     retryqueue.Millis // the queue's clock: with it jobs are checked first
	waiting []readJob
	bytes   int

	fresh, known, refused int
	kept                  int  // known, with another deadline from now
	stopped               bool // by a signal
	refusals, warnings    notes
}

func newAdder(store retryqueue.Store, json bool, s cli.Streams) (*adder, error) {
	bar := &cli.Progress{}
	if in, ok := s.In.(io.Writer); !ok || !cli.IsTerminal(in) { // else somebody is typing
		bar = showProgress(s, json, -1, "adding")
	}
	a := &adder{s: s, json: json, bar: bar, refusals: notes{w: s.Err}, warnings: notes{w: s.Err}}
	var err error
	a.queue, err = retryqueue.New(retryqueue.Config{Store: store, Clock: func() retryqueue.Millis { return a.now }})
	return a, err
}

// one hands in one job.
func (a *adder) one(ctx context.Context, job readJob) error {
	a.now = nowMillis()
	added, err := a.queue.Add(ctx, job.NewJob)
	return errors.Join(err, a.tell([]readJob{job}, added))
}

// lines hands in what r holds, a job a line. What was read whole is written, also
// if ctx ends. A line that is refused leaves the others alone.
func (a *adder) lines(ctx context.Context, r io.Reader, d addDefaults) error {
	err := a.read(ctx, r, d)
	in := a.fresh + a.known
	switch {
	case a.stopped:
		return err
	case err != nil && ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted while it waited for the store; jobs that are in: %d; handing all in again is safe", in))
	case err != nil:
		return fmt.Errorf("%w; jobs before it that are in: %d; handing all in again is safe", err, in)
	case a.refused > 0:
		return fmt.Errorf("lines refused: %d, jobs in: %d; mend those lines and hand all in again: that is safe", a.refused, in)
	}
	return nil
}

func (a *adder) read(ctx context.Context, r io.Reader, d addDefaults) error {
	wctx, stop := outlive(ctx, addGrace)
	defer stop()
	left := make(chan struct{})
	defer close(left)
	chunks := readChunks(r, left)
	split := lineSplitter{most: maxJobLine}
	var pause <-chan time.Time // runs while jobs wait
	for {
		select {
		case c := <-chunks:
			err := a.take(wctx, &split, c, d)
			switch {
			case err != nil:
				return err
			case errors.Is(c.err, io.EOF):
				return a.flush(wctx)
			case c.err != nil:
				return errors.Join(a.flush(wctx), fmt.Errorf("line %d: stdin: %w", split.n+1, c.err))
			case len(a.waiting) == 0:
				pause = nil
			case pause == nil:
				pause = time.After(addPause)
			}
		case <-pause:
			pause = nil
			if err := a.flush(wctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return a.interrupted(wctx, &split, chunks, d)
		}
	}
}

// interrupted hands in what was read whole before the signal.
func (a *adder) interrupted(ctx context.Context, split *lineSplitter, chunks <-chan chunk, d addDefaults) error {
	var err error
	select {
	case c := <-chunks:
		err = a.take(ctx, split, c, d)
	default:
	}
	if err = errors.Join(err, a.flush(ctx)); err != nil {
		return err
	}
	a.stopped = true
	text := fmt.Sprintf("interrupted after line %d", split.n)
	if split.begun() {
		text += fmt.Sprintf("; line %d was not whole and is not in", split.n+1)
	}
	return cli.Exit(cli.ExitInterrupted, errors.New(text))
}

// take hands in the lines that end in c, or has them wait.
func (a *adder) take(ctx context.Context, split *lineSplitter, c chunk, d addDefaults) error {
	one := func(l line) error {
		switch {
		case l.long:
			a.refuse(readJob{line: l.n}, fmt.Errorf("longer than %d bytes (2 MiB), which no job needs: a payload has at most %d", maxJobLine, retryqueue.MaxPayload))
			return nil
		case len(l.text) == 0:
			return nil
		}
		job, err := parseJobLine(l.text, d, c.at)
		if err != nil {
			a.refuse(readJob{line: l.n}, err)
			return nil
		}
		job.line = l.n
		a.waiting = append(a.waiting, job)
		a.bytes += len(job.Payload)
		if len(a.waiting) < addAtOnce && a.bytes < addBytes {
			return nil
		}
		return a.flush(ctx)
	}
	err := split.feed(c.data, one)
	if err == nil && errors.Is(c.err, io.EOF) && split.begun() {
		err = split.end(one)
	}
	return err
}

func (a *adder) refuse(r readJob, err error) {
	a.refused++
	text := strings.Join(strings.Fields(err.Error()), " ")
	a.refusals.add("%srefused: %s", r.place(), clip(text, 300))
}

// flush writes the jobs that wait. One whose deadline has come meanwhile is
// refused by itself.
func (a *adder) flush(ctx context.Context) error {
	a.now = nowMillis()
	var from []readJob
	var jobs []retryqueue.NewJob
	for _, r := range a.waiting {
		if err := r.Check(a.now); err != nil {
			a.refuse(r, err)
			continue
		}
		from, jobs = append(from, r), append(jobs, r.NewJob)
	}
	a.waiting, a.bytes = nil, 0
	if len(jobs) == 0 {
		return nil
	}
	added, err := a.queue.Add(ctx, jobs...)
	a.bar.Add(len(added))
	return errors.Join(err, a.tell(from, added))
}
