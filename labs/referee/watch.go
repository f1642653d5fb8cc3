package referee

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"chaoslab/faults"
)

const (
	ledgerEvery = 10 * time.Millisecond
	// synEvery is how often the kernel's table is read: it takes some
	// milliseconds, so what is seen of a connect is as coarse as this.
	synEvery = 25 * time.Millisecond
)

// watch looks at the partners while the program runs.
func (r *scenarioRun) watch(ctx context.Context) {
	holes := r.holes()
	every := ledgerEvery
	if len(holes) > 0 {
		every = synEvery
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if len(holes) > 0 {
			r.lookForSyns(holes)
		}
		if r.event != nil {
			r.tellNew()
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			r.tellNew()
			return
		}
	}
}

// holes returns the ports that answer no SYN, with their listeners' names.
func (r *scenarioRun) holes() map[uint16]string {
	holes := map[uint16]string{}
	if r.SynRetries > 0 {
		holes[blackHolePort] = r.listeners[0].Name
		return holes
	}
	for i, l := range r.partner.Listeners() {
		for _, s := range r.listeners[i].Faults {
			if s.Name() == "connect-timeout" {
				holes[l.Addresses[0].Port()] = l.Name
			}
		}
	}
	return holes
}

// tellNew tells of requests and connections that have begun or ended, in the order
// and with the times in which they did.
func (r *scenarioRun) tellNew() {
	if r.event == nil {
		return
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	if r.told == nil {
		r.told = map[uint64]bool{}
	}
	var events []Event
	note := func(unix float64, format string, a ...any) {
		at := unix - float64(r.start.UnixMicro())/1000
		events = append(events, r.eventAt(at, "partner", format, a...))
	}
	for _, e := range r.partner.Ledger().Entries(faults.Query{}) {
		if e.Kind == "connection" && e.Nth > 0 {
			continue
		}
		begun, ended := e.Seq*2, e.Seq*2+1
		if e.Kind == "request" && !r.told[begun] {
			r.told[begun] = true
			note(e.BegunAt, "%s: %s %s (%s)", e.Listener, e.Method, e.Path, e.Mode)
		}
		if e.Ended() && !r.told[ended] {
			r.told[ended] = true
			note(e.EndedAt, "%s: %s after %.1f ms, by the %s", e.Listener, e.How, e.Elapsed, e.EndedBy)
		}
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	for _, e := range events {
		r.event(e)
	}
}

// collect puts together what was seen.
func (r *scenarioRun) collect(replies []Reply) *Seen {
	lines, total := r.rec.all()
	if total > maxOutput {
		r.find(OwnOutput, fmt.Sprintf("%d bytes of output", total), fmt.Sprintf("at most %d", maxOutput), "what the program prints again and again")
		r.own = slices.Insert(r.own[:len(r.own)-1], 0, r.own[len(r.own)-1]) // it explains all others
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	end := millis(time.Since(r.start))
	s := &Seen{
		Attempts: attemptsOf(r.partner.Ledger().Entries(faults.Query{}), r.start, end),
		Effects:  map[string]faults.Effects{}, Lines: lines, Lives: r.lives, Replies: replies,
		Said: said(lines), Kernel: len(r.syns) > 0 || !r.blind,
	}
	if r.program.confined {
		s.Refused = refused(lines)
	}
	for _, one := range r.syns {
		if one.after.IsZero() {
			one.after = time.Now()
		}
	}
	s.Attempts = append(s.Attempts, synAttempts(r.syns, r.names, r.start)...)
	sortAttempts(s.Attempts)
	for _, e := range r.partner.Effects() {
		s.Effects[e.Listener] = e
	}
	at := func(ms float64) time.Time { return r.start.Add(time.Duration(ms * float64(time.Millisecond))) }
	s.Noise = r.canary.noise(at(s.First()).Add(-justBefore), time.Time{})
	s.noiseIn = func(from, to float64) Noise { return r.canary.noise(at(from).Add(-around), at(to).Add(around)) }
	slices.SortStableFunc(s.Lines, func(a, b Line) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	return s
}
