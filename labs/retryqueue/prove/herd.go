package prove

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// herd keeps a number of worker processes running and kills them.
type herd struct {
	o    Options
	url  string
	calm bool
	r    *rand.Rand

	mu                             sync.Mutex
	ready                          []*exec.Cmd
	starts, kills, suicides, stops int
	errs                           []error
}

func newHerd(o Options, url string, calm bool) *herd {
	return &herd{o: o, url: url, calm: calm, r: rand.New(rand.NewPCG(o.Seed, 2))}
}

// run keeps the workers running until ctx ends, and returns when all have ended.
// A worker that ends with an error of its own ends the run.
func (h *herd) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for slot := range h.o.Workers {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := h.one(ctx, slot, n); err != nil {
					h.mu.Lock()
					h.errs = append(h.errs, err)
					h.mu.Unlock()
					cancel()
				}
			}
		})
	}
	if !h.calm {
		h.killing(ctx)
	}
	wg.Wait()
	return errors.Join(h.errs...)
}

// one runs one worker process from its start to its end.
func (h *herd) one(ctx context.Context, slot, n int) error {
	cfg, err := json.Marshal(workerConfig{
		Where: h.o.Where, Schema: h.o.Schema, Lease: h.o.Lease.Milliseconds(), Calm: h.calm,
		Seed: h.o.Seed, Nth: slot*1_000_000 + n,
	})
	if err != nil {
		return err
	}
	cmd := h.o.Command(ctx)
	// Its input stays open: when we die, it ends.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil { // time was up just before
			return nil
		}
		return fmt.Errorf("a worker did not start: %w", err)
	}
	h.count(&h.starts)
	_, werr := stdin.Write(append(cfg, '\n'))
	line, rerr := bufio.NewReader(stdout).ReadString('\n')
	ready := werr == nil && rerr == nil && line == readyLine
	if ready {
		h.mu.Lock()
		h.ready = append(h.ready, cmd)
		h.mu.Unlock()
	}
	if h.calm {
		go func() {
			<-ctx.Done()
			_ = stdin.Close() // it finishes what it is at
		}()
	}
	_, _ = io.Copy(io.Discard, stdout) // until it ends
	err = cmd.Wait()
	h.forget(cmd)
	if own := strings.TrimSpace(stderr.String()); own != "" && ctx.Err() == nil {
		return fmt.Errorf("a worker said: %s", own)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 && ctx.Err() == nil {
		return fmt.Errorf("a worker ended with exit code %d", exit.ExitCode())
	}
	return nil
}

func (h *herd) count(n *int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*n++
}

// forget takes a worker out of those that can be killed. One that was still in
// is one that nobody else had killed.
func (h *herd) forget(cmd *exec.Cmd) {
	if h.take(func(all []*exec.Cmd) *exec.Cmd {
		for _, c := range all {
			if c == cmd {
				return c
			}
		}
		return nil
	}) != nil {
		h.count(&h.suicides)
	}
}

// take removes the worker that choose picks from those that can be killed.
func (h *herd) take(choose func([]*exec.Cmd) *exec.Cmd) *exec.Cmd {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := choose(h.ready)
	for i := range h.ready {
		if h.ready[i] == c {
			h.ready = append(h.ready[:i], h.ready[i+1:]...)
			break
		}
	}
	return c
}

// stopEvery is how many victims there are to one that is stopped, not killed.
const stopEvery = 8

// killing kills a worker at exponential intervals, and stops the fourth and every
// eighth after it until its leases have run out, until ctx ends.
func (h *herd) killing(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for victims := 0; ctx.Err() == nil; {
		pauseFor(ctx, time.Duration(h.r.ExpFloat64()*float64(h.o.Kill)))
		victim := h.take(func(all []*exec.Cmd) *exec.Cmd {
			if len(all) == 0 {
				return nil
			}
			return all[h.r.IntN(len(all))]
		})
		if victim == nil {
			continue
		}
		if victims++; victims%stopEvery == stopEvery/2 && stop(victim.Process) == nil {
			h.count(&h.stops)
			pause := h.o.Lease * time.Duration(11+h.r.IntN(10)) / 10
			wg.Go(func() {
				pauseFor(ctx, pause)
				// It goes on with what it believed to hold, for a moment.
				_ = resume(victim.Process)
				pauseFor(ctx, h.o.Lease/2)
				_ = victim.Process.Kill()
			})
			continue
		}
		h.count(&h.kills)
		_ = victim.Process.Kill() // it may have ended by itself
	}
}
