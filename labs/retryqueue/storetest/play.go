package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"chaoslab/budgetcaller/backoff"
	"chaoslab/labs/retryqueue"
)

// Model plays steps random steps with the store under a virtual clock, and the
// same with a model, and compares everything after each: hand in (known ids
// too), claim and send with every outcome, other workers and clock steps in the
// middle of a send, leases that run out, clocks that go back, redrive and purge.
func Model(t *testing.T, open Open, seed uint64, steps int) {
	t.Helper()
	p := &play{t: t, r: rand.New(rand.NewPCG(seed, 1)), store: open(t), model: &model{}, now: 1_000_000}
	var err error
	p.queue, err = retryqueue.New(retryqueue.Config{
		Store: p.store,
		Send:  p.send,
		Clock: func() retryqueue.Millis { return p.now },
		Lease: modelLease * time.Millisecond,
		Backoff: retryqueue.Backoff{
			Base: 40 * time.Millisecond, Cap: 300 * time.Millisecond,
			Jitter: func(string, int) float64 { return p.jitter },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range steps {
		p.step(3)
		if p.compare(); t.Failed() {
			t.Fatalf("seed %d, step %d, at %d; the last steps:\n%s", seed, i, p.now, p.log)
		}
	}
	if p.model.acts == 0 || p.model.stats(p.now).LeasesLost == 0 {
		t.Errorf("seed %d: %d steps without a redrive or a lost lease prove little", seed, steps)
	}
}

// modelLease is long in real time: the virtual clock alone decides.
const modelLease = 60_000

type play struct {
	t      *testing.T
	r      *rand.Rand
	store  retryqueue.Store
	queue  *retryqueue.Queue
	model  *model
	now    retryqueue.Millis
	jitter float64
	log    string
	plans  []*plan // of the sends under way, the innermost last
}

// plan is what one send will do, and what it was given.
type plan struct {
	inner  int
	word   word
	err    error
	job    retryqueue.Job
	before retryqueue.Millis
	called bool
}

func (p *play) note(format string, args ...any) {
	p.log += fmt.Sprintf("%*s%d ", 2*len(p.plans), "", p.now) + fmt.Sprintf(format, args...) + "\n"
	if len(p.log) > 4000 {
		p.log = p.log[len(p.log)-3000:]
	}
}

func (p *play) step(depth int) {
	switch n := p.r.IntN(20); {
	case n < 4:
		p.add()
	case n < 8:
		p.now += retryqueue.Millis(p.r.Int64N(200))
	case n < 10:
		p.now += retryqueue.Millis(p.r.Int64N(2 * modelLease))
	case n < 11:
		p.now -= retryqueue.Millis(p.r.Int64N(500))
	case n < 17 && depth > 0:
		p.run(depth)
	case n < 19:
		p.redrive()
	case p.r.IntN(8) == 0:
		before := p.now - retryqueue.Millis(p.r.Int64N(1000))
		n, err := p.store.Purge(p.t.Context(), before, nil)
		p.note("purge before %d: %d", before, n)
		if want := p.model.purge(before); n != want || err != nil {
			p.t.Errorf("Purge: got %d, %v, want %d", n, err, want)
		}
	}
}

func (p *play) id() string { return fmt.Sprint("job-", p.r.IntN(12+len(p.model.jobs)/8)) }

func (p *play) add() {
	j := retryqueue.NewJob{ID: p.id(), Payload: []byte("x"), MaxAttempts: 1 + p.r.IntN(4), Deadline: p.now + 1 + retryqueue.Millis(p.r.Int64N(5*modelLease))}
	if p.r.IntN(3) == 0 {
		j.AvailableAt = p.now + retryqueue.Millis(p.r.Int64N(int64(j.Deadline-p.now)))
	}
	added, err := p.queue.Add(p.t.Context(), j)
	p.note("add %s: %+v", j.ID, added)
	if want := p.model.add(p.now, j); err != nil || added[0].New != want {
		p.t.Errorf("Add(%+v): got %+v, %v, want new %v", j, added, err, want)
	}
}

func (p *play) redrive() {
	id := p.id()
	for _, j := range p.model.jobs {
		if j.State == retryqueue.Dead && p.r.IntN(4) == 0 {
			id = j.ID
		}
	}
	more, deadline := 1+p.r.IntN(3), p.now+1+retryqueue.Millis(p.r.Int64N(modelLease))
	_, err := p.queue.Redrive(p.t.Context(), id, "model", more, deadline)
	p.note("redrive %s: %v", id, err)
	if want := p.model.redrive(id, p.now, more, deadline); (err == nil) != want {
		p.t.Errorf("Redrive(%s): got %v, want it done: %v", id, err, want)
	}
}

// run is one RunOnce of one worker, perhaps in the middle of another's send.
func (p *play) run(depth int) {
	pl := &plan{inner: depth - 1, word: word(p.r.IntN(int(words)))}
	switch cause := errors.New("scripted"); pl.word {
	case refuse:
		pl.err = retryqueue.Permanent(cause)
	case again:
		pl.err = retryqueue.Retry(cause, 0)
	case unclear:
		pl.err = cause
	}
	want := p.model.claim(p.now, modelLease)
	attempt := 0
	if want != nil {
		attempt = want.Attempts
	}
	p.plans = append(p.plans, pl)
	r, err := p.queue.RunOnce(p.t.Context())
	p.plans = p.plans[:len(p.plans)-1]
	p.note("run: %v %s #%d %v", r.Outcome, r.Job.ID, r.Job.Attempts, err)
	if pl.called != (want != nil) || want != nil && (pl.job.ID != want.ID || pl.job.Attempts != attempt) {
		p.t.Errorf("RunOnce sent %v %s #%d, want %+v in attempt %d", pl.called, pl.job.ID, pl.job.Attempts, want, attempt)
		return
	}
	if want == nil {
		if r.Outcome != retryqueue.Idle || err != nil {
			p.t.Errorf("RunOnce: got %v, %v, want idle", r.Outcome, err)
		}
		return
	}
	delay, derr := backoff.Delay(40*time.Millisecond, 300*time.Millisecond, attempt, p.jitter)
	if derr != nil {
		p.t.Fatal(derr)
	}
	out := p.model.settle(want.ID, attempt, pl.word, pl.before, p.now, delay.Milliseconds())
	if out != r.Outcome {
		p.t.Errorf("RunOnce of %s #%d ending with word %d between %d and %d: got %v, %v, want %v", want.ID, attempt, pl.word, pl.before, p.now, r.Outcome, err, out)
	}
	p.wantError(pl, out, err)
}

// wantError holds what RunOnce returns: an unclassified error as it is, a lost
// lease, a clock that went back, and nothing else.
func (p *play) wantError(pl *plan, out retryqueue.Outcome, err error) {
	back := p.now < pl.before
	switch {
	case out == retryqueue.Lost:
		if !errors.Is(err, retryqueue.ErrLeaseLost) {
			p.t.Errorf("a lost lease: got %v", err)
		}
	case back:
		if !errors.Is(err, retryqueue.ErrClockBackwards) {
			p.t.Errorf("a clock that went back from %d to %d: got %v", pl.before, p.now, err)
		}
	case out == retryqueue.Unclassified:
		if err != pl.err {
			p.t.Errorf("an unclassified error: got %v, want it as it is", err)
		}
	case err != nil:
		p.t.Errorf("outcome %v: got error %v", out, err)
	}
}

// send does what the innermost plan says; other things happen meanwhile.
func (p *play) send(_ context.Context, job retryqueue.Job) error {
	pl := p.plans[len(p.plans)-1]
	pl.called, pl.job, pl.before = true, job, p.now
	for range p.r.IntN(5) {
		p.step(pl.inner)
	}
	p.jitter = p.r.Float64()
	return pl.err
}

func (p *play) compare() {
	jobs, err := p.store.List(p.t.Context(), retryqueue.Filter{Limit: len(p.model.jobs) + 1})
	if err != nil || len(jobs) != len(p.model.jobs) {
		p.t.Errorf("List: got %d jobs, %v, want %d", len(jobs), err, len(p.model.jobs))
		return
	}
	for i, want := range p.model.jobs {
		if show(&jobs[i]) != show(want) {
			p.t.Errorf("got  %s\nwant %s", show(&jobs[i]), show(want))
		}
	}
	got, err := p.queue.Stats(p.t.Context())
	if want := p.model.stats(p.now); got != want || err != nil {
		p.t.Errorf("stats: got %+v, %v\nwant %+v", got, err, want)
	}
	if p.r.IntN(50) == 0 {
		if err := p.store.Check(p.t.Context()); err != nil {
			p.t.Error(err)
		}
	}
}
