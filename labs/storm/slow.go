package storm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/faults"
)

// SlowConfig sets up RunSlow: a hop with few workers calls a partner that turns
// slow. Each zero field has the default named beside it.
type SlowConfig struct {
	Workers     int           // of the hop. Zero: 5
	Usual, Slow time.Duration // what the partner takes. Zero: 20 ms, 3 s
	Limit       time.Duration // of the hop's call to the partner. Zero: 6 s
	Needs       int           // requests a second that need the partner. Zero: 60
	Others      int           // and that do not. Zero: 40
	Patience    time.Duration // of who calls the hop. Zero: 1 s
	Healthy     time.Duration // so long the partner is well. Zero: 1 s
	Failure     time.Duration // then slow. Zero: 7 s
}

// Bounds of SlowConfig beside those of Config.
const (
	MaxWorkers   = 1000
	MaxSlowCalls = 2000 // a second, both kinds together
)

// Complete returns c with its zero fields filled in, or an error that names the
// first field that is out of range.
func (c SlowConfig) Complete() (SlowConfig, error) {
	for _, f := range []struct {
		name       string
		value      *int
		zero, most int
	}{
		{"Workers", &c.Workers, 5, MaxWorkers},
		{"Needs", &c.Needs, 60, MaxSlowCalls / 2},
		{"Others", &c.Others, 40, MaxSlowCalls / 2},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < 1 || *f.value > f.most {
			return c, fmt.Errorf("%s: %d is out of range: from 1 to %d", f.name, *f.value, f.most)
		}
	}
	for _, f := range []struct {
		name       string
		value      *time.Duration
		zero, most time.Duration
	}{
		{"Usual", &c.Usual, 20 * time.Millisecond, MaxWait},
		{"Slow", &c.Slow, 3 * time.Second, MaxWait},
		{"Limit", &c.Limit, 6 * time.Second, MaxLength},
		{"Patience", &c.Patience, time.Second, MaxWait},
		{"Healthy", &c.Healthy, time.Second, MaxLength / 2},
		{"Failure", &c.Failure, 7 * time.Second, MaxLength / 2},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < time.Millisecond || *f.value > f.most {
			return c, fmt.Errorf("%s: %v is out of range: from 1ms to %v", f.name, *f.value, f.most)
		}
	}
	if c.Slow < c.Usual {
		return c, fmt.Errorf("Slow: %v is faster than Usual, %v", c.Slow, c.Usual)
	}
	return c, nil
}

// Throughput is the arithmetic: how many requests a second so many workers end,
// at most, where each holds one of them for hold, cut at limit.
func Throughput(workers int, hold, limit time.Duration) float64 {
	return float64(workers) / min(hold, limit).Seconds()
}

// SlowReport is what RunSlow measured.
type SlowReport struct {
	Config         SlowConfig // complete
	Interrupted    bool
	Usual, Failing SlowPhase // the partner as usual, and slow
}

// SlowPhase is a part of the run.
type SlowPhase struct {
	// AtMost is how many requests that need the partner can end each second, by
	// arithmetic: Throughput.
	AtMost float64
	// Hold is how long such a request held a worker, in the mean, and Could what
	// AtMost is with that: the arithmetic on what was measured. Zero: none ended.
	Hold  time.Duration
	Could float64
	// Ended is how many did end each second, up to the last that did.
	Ended  float64
	Needs  Served
	Others Served
}

// Served says how requests of one kind fared.
type Served struct {
	Due, Good int
	P50, P99  time.Duration // until they ended, well or not
}

// RunSlow makes a hop and its partner, calls the hop, and lets the partner turn
// slow. If ctx ends before, what was measured so far is reported, as
// interrupted.
func RunSlow(ctx context.Context, cfg SlowConfig) (*SlowReport, error) {
	cfg, err := cfg.Complete()
	if err != nil {
		return nil, err
	}
	usual, slow, err := cfg.specs()
	if err != nil {
		return nil, err
	}
	partner, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{usual}}}, LedgerSize: ownLedger})
	if err != nil {
		return nil, err
	}
	own := partner.Listeners()[0]
	h, err := startHop(cfg.Workers, own.URL, cfg.Limit)
	if err != nil {
		return nil, errors.Join(err, partner.Close(context.WithoutCancel(ctx)))
	}
	defer h.close()
	defer partner.Close(context.WithoutCancel(ctx)) //nolint:errcheck // without a deadline it does not fail

	rep := &SlowReport{Config: cfg}
	if rep.Usual, err = cfg.phase(ctx, h, cfg.Healthy, cfg.Usual); err != nil {
		return nil, err
	}
	if ctx.Err() == nil {
		if err := partner.Set(own.Name, []faults.Spec{slow}, 0); err != nil {
			return nil, err
		}
		if rep.Failing, err = cfg.phase(ctx, h, cfg.Failure, cfg.Slow); err != nil {
			return nil, err
		}
	}
	rep.Interrupted = ctx.Err() != nil
	return rep, nil
}

func (c SlowConfig) specs() (usual, slow faults.Spec, err error) {
	usual, err = faults.Parse("slow:delay=" + c.Usual.String())
	if err == nil {
		slow, err = faults.Parse("slow:delay=" + c.Slow.String())
	}
	return usual, slow, err
}

// phase calls the hop for so long, while its partner takes hold.
func (c SlowConfig) phase(ctx context.Context, h *hop, length, hold time.Duration) (SlowPhase, error) {
	caller, err := budgetcaller.New(budgetcaller.Config{MaxConnsPerHost: connections()})
	if err != nil {
		return SlowPhase{}, err
	}
	defer caller.Close()
	p := SlowPhase{AtMost: Throughput(c.Workers, hold, c.Limit)}
	before, held, start := h.ended.Load(), h.held.Load(), time.Now()
	var both sync.WaitGroup
	for _, of := range []struct {
		perSecond int
		path      string
		to        *Served
	}{
		{c.Needs, needsPath, &p.Needs},
		{c.Others, othersPath, &p.Others},
	} {
		req, err := http.NewRequest(http.MethodGet, h.url+of.path, nil)
		if err != nil {
			return p, err
		}
		both.Go(func() {
			*of.to = serve(ctx, caller, req, pace{int64(of.perSecond)}, start, length, c.Patience)
		})
	}
	waitUntil(ctx, start.Add(length))
	ended, last := h.ended.Load()-before, time.Unix(0, h.last.Load())
	// Up to the last that ended: what a worker still holds is not over.
	if took := last.Sub(start).Seconds(); ended > 0 && took > 0 {
		p.Ended = float64(ended) / took
		p.Hold = time.Duration((h.held.Load() - held) / ended)
		p.Could = Throughput(c.Workers, max(p.Hold, 1), MaxLength)
	}
	both.Wait()
	return p, nil
}

// serve makes calls at the given pace and says how they fared.
func serve(ctx context.Context, caller *budgetcaller.Caller, req *http.Request, p pace, start time.Time, length, patience time.Duration) Served {
	count := int(p.perSecond * int64(length) / int64(time.Second))
	took := make([]time.Duration, count)
	fine := make([]bool, count)
	var calls sync.WaitGroup
	launched := p.run(ctx, start, count, func(n int, _ time.Duration) {
		calls.Go(func() {
			due := start.Add(p.due(n))
			// It stands for somebody who waits so long and no longer.
			call, cancel, err := budgetcaller.Begin(ctx, max(time.Millisecond, patience-time.Since(due)))
			if err != nil {
				return
			}
			defer cancel()
			answer, err := caller.Do(call, req)
			took[n] = time.Since(due)
			fine[n] = err == nil && answer.OK()
		})
	})
	calls.Wait()
	took, fine = took[:launched], fine[:launched]
	s := Served{Due: launched}
	for _, ok := range fine {
		if ok {
			s.Good++
		}
	}
	slices.Sort(took)
	s.P50, s.P99 = percentile(took, 50), percentile(took, 99)
	return s
}
