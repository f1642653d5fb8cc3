package prove

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
	"chaoslab/labs/retryqueue/stores"
)

// workerConfig is what a worker process reads from its standard input.
type workerConfig struct {
	Where  string `json:"where"`
	Schema string `json:"schema"`
	Lease  int64  `json:"lease_ms"`
	Calm   bool   `json:"calm"`
	Seed   uint64 `json:"seed"`
	Nth    int    `json:"nth"`
}

// calmLease is so long that no machine is too slow to write down what it heard.
const calmLease = 30 * time.Second

const readyLine = "ready\n"

// Worker is what a worker process of the crash test does: it works until its
// input ends, and kills itself now and then at the points where it hurts. wrap,
// if not nil, is put around its store.
func Worker(ctx context.Context, in io.Reader, out io.Writer, wrap func(retryqueue.Store, *sql.DB) retryqueue.Store) error {
	input := bufio.NewReader(in)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("worker: no configuration: %w", err)
	}
	var cfg workerConfig
	if err := json.Unmarshal(line, &cfg); err != nil {
		return fmt.Errorf("worker: configuration: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = input.ReadByte() // until the parent closes it or dies
		cancel()
	}()
	store, err := stores.Open(ctx, cfg.Where, stores.Options{Schema: cfg.Schema})
	if err != nil {
		return err
	}
	defer store.Close()
	if wrap != nil {
		db, err := stores.DB(cfg.Where, cfg.Schema)
		if err != nil {
			return err
		}
		defer db.Close()
		store = wrap(store, db)
	}
	caller, err := budgetcaller.New(budgetcaller.Config{})
	if err != nil {
		return err
	}
	defer caller.Close()
	send := httpsend.New(caller, httpsend.DefaultTable()).Send
	work, lease := retryqueue.WorkConfig{Workers: 3, Batch: 4, Poll: 5 * time.Millisecond, Grace: time.Second}, calmLease
	if !cfg.Calm {
		lease = time.Duration(cfg.Lease) * time.Millisecond
		d := &deadly{Store: store, r: rand.New(rand.NewPCG(cfg.Seed, uint64(cfg.Nth)+10)), lease: lease}
		store, send = d, d.sending(send)
		work.Workers, work.Batch = 1+cfg.Nth%3, 1+cfg.Nth%2*2
	}
	queue, err := retryqueue.New(retryqueue.Config{
		Store: store, Send: send, Lease: lease, Renew: cfg.Nth%4 == 3,
		Backoff: retryqueue.Backoff{Base: 5 * time.Millisecond, Cap: 50 * time.Millisecond, Seed: cfg.Seed},
	})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, readyLine); err != nil {
		return err
	}
	return queue.Work(ctx, work)
}

// deadly kills its process at chosen points, with the chance of one in so many.
type deadly struct {
	retryqueue.Store
	lease time.Duration

	mu sync.Mutex
	r  *rand.Rand
}

const (
	dieOneIn   = 50 // at each of the points below
	stallOneIn = 4  // right after sending: most of those who stall are killed before they go on
)

func (d *deadly) chance(oneIn int) bool { return d.draw(oneIn) == 0 }

func (d *deadly) draw(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

// die kills the process once in a while. The kill is a real SIGKILL, nothing is
// cleaned up.
func (d *deadly) die() {
	if d.chance(dieOneIn) {
		kill()
	}
}

func kill() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // nobody is left to hear of an error
	}
}

// Take implements retryqueue.Store: it dies before, in the middle of, or after
// the transaction that settles and claims.
func (d *deadly) Take(ctx context.Context, t retryqueue.Take) (retryqueue.Taken, error) {
	if d.chance(dieOneIn) {
		time.AfterFunc(time.Duration(d.draw(2000))*time.Microsecond, kill)
	}
	if len(t.Settle) > 0 {
		d.die()
	}
	taken, err := d.Store.Take(ctx, t)
	if len(taken.Jobs) > 0 || len(t.Settle) > 0 {
		d.die() // it is committed
	}
	return taken, err
}

// sending dies before or after the request, or stalls right after it, past the
// lease, and then reports as if nothing had been.
func (d *deadly) sending(send func(context.Context, retryqueue.Job) error) func(context.Context, retryqueue.Job) error {
	return func(ctx context.Context, job retryqueue.Job) error {
		d.die()
		err := send(ctx, job)
		d.die()
		if d.chance(stallOneIn) {
			pauseFor(context.WithoutCancel(ctx), d.lease*time.Duration(105+d.draw(100))/100)
		}
		return err
	}
}
