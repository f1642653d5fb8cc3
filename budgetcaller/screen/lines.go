package screen

import (
	"fmt"
	"time"

	"chaoslab/budgetcaller"
)

// lines returns the account of a call that ran from start on and had to end by
// deadline: one line an attempt, where its attempts are known.
func (r *run) lines(p *part, e *ending, start, deadline time.Time) []Line {
	if len(e.attempts) == 0 {
		return []Line{r.whole(p, e, start, deadline)}
	}
	var lines []Line
	end, waited := start, time.Duration(0)
	for i := range e.attempts {
		rec := &e.attempts[i]
		l := r.line(p, rec.Start.Add(-waited), waited, rec.Elapsed)
		l.Try, l.Called = i+1, true
		from := rec.Start
		if i == 0 {
			from = start // the limit began with the part
		}
		l.Limit = max(0, min(p.attempt, deadline.Sub(from)))
		l.Class, l.Phase, l.Fired, l.Status = rec.Class, rec.Phase, rec.Limit, rec.Status
		if rec.Class == budgetcaller.ClassStatus {
			l.Why = fmt.Sprintf("status %d", rec.Status)
		}
		lines = append(lines, l)
		end = rec.Start.Add(rec.Elapsed)
		waited, _ = rec.Phases.Took(budgetcaller.PhaseBackoff)
	}
	last := &lines[len(lines)-1]
	switch {
	case e.err == nil:
	case e.class == last.Class && waited == 0:
		last.Why = e.why
	case last.Class == budgetcaller.ClassOK: // it is what was made of the answer that failed
		last.Class, last.Why = e.class, e.why
	default: // another attempt was due and not made
		l := r.line(p, end, waited, 0)
		l.Try = len(lines) + 1
		l.Class, l.Phase, l.Fired, l.Why = e.class, e.phase, e.limit, e.why
		lines = append(lines, l)
	}
	return lines
}

// whole is the one line of a call whose attempts are not known.
func (r *run) whole(p *part, e *ending, start, deadline time.Time) Line {
	l := r.line(p, start, 0, time.Since(start))
	l.Try, l.Called = 1, e.called
	if e.called {
		l.Limit = deadline.Sub(start)
	}
	l.Class, l.Phase, l.Fired, l.Status, l.Why = e.class, e.phase, e.limit, e.status, e.why
	return l
}

// line reckons what was left around a wait and what followed it.
func (r *run) line(p *part, start time.Time, waited, used time.Duration) Line {
	left := max(0, r.until.Sub(start))
	return Line{
		Part: p.Name, At: start.Sub(r.began), Left: left,
		Waited: waited, Used: used, LeftAfter: max(0, left-waited-used),
	}
}
