package storm

import (
	"runtime"
	"slices"
	"time"

	"chaoslab/budgetcaller"
)

// Report is what a run measured.
type Report struct {
	Config      Config // complete
	Budget      time.Duration
	Interrupted bool // the run was broken off
	Uncounted   bool // nobody counted at the partner: Partner and Unaccounted are not known
	Seconds     []Second

	Calls    Calls
	Attempts Attempts
	Partner  Counts // of the whole run

	// Peak is the most requests in one second, as in Second.Rate.
	Peak float64
	// Recovered is how long after the failure had ended calls were good again,
	// and Ok is false where they were not before the end.
	Recovered Recovered
	// Latency is that of the calls that fell due in each phase, by Phase.
	Latency [Ending]Latency
	Machine Machine
}

// Calls says how the calls ended.
type Calls struct {
	Due      int // launched
	Good     int // answered while somebody waited
	Late     int // answered too late
	Failed   int
	Dropped  int // not begun: too many were under way
	Canceled int // the run was broken off
}

// Attempts says what was sent.
type Attempts struct {
	First, Retried int // sent
	Unsent         int // that ended before anything was sent
	Classes        []ClassCount
	// Unaccounted is what the partner received less what was sent.
	Unaccounted int
}

// ClassCount is how many attempts ended so.
type ClassCount struct {
	Class budgetcaller.Class
	N     int
}

// Recovered is when calls were good again.
type Recovered struct {
	After time.Duration // the failure had ended
	Ok    bool
}

// Latency says how long calls took, from when they were due.
type Latency struct {
	N             int
	P50, P99, Max time.Duration
}

// Machine says what the machine did meanwhile.
type Machine struct {
	Cores            int
	Busy             float64       // processors that this process kept busy in the second of the peak
	Others           float64       // and all others, in the mean of the run; negative: not known
	LateP99, LateMax time.Duration // calls were begun so late
}

func (r *run) report(launched int, interrupted bool) *Report {
	rep := &Report{
		Config: r.cfg, Budget: r.budget, Interrupted: interrupted, Uncounted: r.sample.uncounted, Seconds: r.sample.seconds(),
		Machine: Machine{Cores: runtime.NumCPU(), Busy: -1, Others: -1},
	}
	calls := r.tally.calls[:launched]
	rep.countCalls(calls)
	for i := range r.tally.ticks {
		rep.Attempts.First += int(r.tally.ticks[i].first.Load())
		rep.Attempts.Retried += int(r.tally.ticks[i].retried.Load())
	}
	rep.Attempts.Unsent = int(r.tally.unsent.Load())
	for _, c := range budgetcaller.Classes() {
		if n := int(r.tally.classes[c.Class].Load()); n > 0 {
			rep.Attempts.Classes = append(rep.Attempts.Classes, ClassCount{c.Class, n})
		}
	}
	others := 0.0
	for _, s := range rep.Seconds {
		others += s.Others * (s.To - s.From).Seconds()
		rep.Partner = s.Partner.plus(rep.Partner)
		if s.Rate > rep.Peak && s.To-s.From > 500*time.Millisecond {
			rep.Peak, rep.Machine.Busy = s.Rate, s.Busy
		}
	}
	if n := len(rep.Seconds); n > 0 {
		rep.Machine.Others = max(-1, others/rep.Seconds[n-1].To.Seconds())
	}
	if !rep.Uncounted {
		rep.Attempts.Unaccounted = int(rep.Partner.Received) - rep.Attempts.First - rep.Attempts.Retried
	}
	rep.measureCalls(calls, r.pace)
	lags := slices.Sorted(slices.Values(r.lags[:launched]))
	rep.Machine.LateP99, rep.Machine.LateMax = percentile(lags, 99), percentile(lags, 100)
	return rep
}

func (rep *Report) countCalls(calls []call) {
	rep.Calls.Due = len(calls)
	for _, c := range calls {
		switch c.fate {
		case good:
			rep.Calls.Good++
		case late:
			rep.Calls.Late++
		case dropped:
			rep.Calls.Dropped++
		case canceled:
			rep.Calls.Canceled++
		default:
			rep.Calls.Failed++
		}
	}
}

// measureCalls fills in what follows from when calls were due and how long they
// took.
func (rep *Report) measureCalls(calls []call, p pace) {
	var took [Ending][]time.Duration
	for n, c := range calls {
		if phase := rep.Config.phaseAt(p.due(n)); phase < Ending && c.fate != dropped && c.fate != canceled {
			took[phase] = append(took[phase], c.took)
		}
	}
	for phase, all := range took {
		slices.Sort(all)
		rep.Latency[phase] = Latency{len(all), percentile(all, 50), percentile(all, 99), percentile(all, 100)}
	}
	healed := rep.Config.Healthy + rep.Config.Failure
	rep.Recovered = recovery(calls, p, healed, rep.Config.Length())
}

// percentile returns the p-th percentile of sorted values by the nearest rank, 0
// if there are none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// Rules for when a partner has recovered: of the calls that fall due in each
// recoveryStep, recoveryShare percent are good, and that for recoveryHold.
const (
	recoveryStep  = 100 * time.Millisecond
	recoveryShare = 90
	recoveryHold  = time.Second
)

// recovery finds the first moment from healed on after which calls were good
// again and stayed so. A step in which no call fell due says nothing. What is
// left of the run must hold it, so at its very end nothing can be known.
func recovery(calls []call, p pace, healed, end time.Duration) Recovered {
	steps := int((end - healed) / recoveryStep)
	due, fine := make([]int, steps), make([]int, steps)
	last := -1 // the last step that a call fell due in
	for n, c := range calls {
		i := int((p.due(n) - healed) / recoveryStep)
		if p.due(n) < healed || i >= steps {
			continue
		}
		due[i]++
		last = i
		if c.fate == good {
			fine[i]++
		}
	}
	hold := min(int(recoveryHold/recoveryStep), max(steps, 1))
	since := 0
	for i := 0; i <= last; i++ {
		if fine[i]*100 < due[i]*recoveryShare {
			since = i + 1
		}
		if i+1-since >= hold {
			return Recovered{time.Duration(since) * recoveryStep, true}
		}
	}
	return Recovered{}
}
