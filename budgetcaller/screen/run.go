package screen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chaoslab/budgetcaller"
)

// run is one Run while it is under way.
type run struct {
	screen *Screen
	began  time.Time
	until  time.Time // end of what the parts get
	failed *Outcome  // the first required part without a value
}

// Run makes the screen under its budget, or under the deadline of ctx if that is
// earlier. It returns when every part has its value, has failed or was given
// up, and no later than the end of the budget without the reserve, but for
// Grace where a function does not obey its context.
//
// The Result is never nil and accounts for every part, also beside an error.
// The error is an *Error, the same as Result.Err: a required part has no value,
// or ctx was canceled. As soon as that is so, the parts under way are canceled
// and the others not called.
func (s *Screen) Run(ctx context.Context) (*Result, error) {
	began := time.Now()
	end := began.Add(s.budget.D)
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(end) {
		end = earlier
	}
	r := &run{screen: s, began: began, until: end.Add(-s.reserve.D)}
	res := &Result{Screen: s.name, Began: began, Budget: max(0, end.Sub(began)), Reserve: s.reserve.D, Degraded: []string{}}
	inner, cancel := context.WithDeadline(ctx, r.until)
	defer cancel()
	for i := range s.groups {
		res.Parts = append(res.Parts, r.group(inner, s.groups[i])...)
	}
	res.Elapsed = time.Since(began)
	res.Left = max(0, time.Until(end))
	return res, r.conclude(ctx, res)
}

// conclude fills in what follows from the parts.
func (r *run) conclude(ctx context.Context, res *Result) error {
	given := false
	for i := range res.Parts {
		o := &res.Parts[i]
		given = given || o.Missing() && o.Class == budgetcaller.ClassCanceled
		if o.Missing() && !o.Required {
			res.Degraded = append(res.Degraded, o.Name)
		}
	}
	switch {
	case given && canceled(ctx):
		res.Err = &Error{Screen: r.screen.name, Class: budgetcaller.ClassCanceled, Effect: res.Effect(), Err: context.Cause(ctx)}
	case r.failed != nil:
		o := r.failed
		res.Err = &Error{Screen: r.screen.name, Part: o.Name, Class: o.Class, Effect: res.Effect(), Status: o.Status, Err: o.Err}
	default:
		return nil
	}
	return res.Err
}

// group makes the parts of a group side by side and returns how each went.
func (r *run) group(ctx context.Context, group []part) []Outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if r.failed != nil {
		cancel(failedPart(r.failed.Name))
	}
	type numbered struct {
		i int
		Outcome
	}
	done := make(chan numbered, len(group))
	for i := range group {
		go func() { done <- numbered{i, r.part(ctx, &group[i])} }()
	}
	outs := make([]Outcome, len(group))
	for range group {
		o := <-done
		outs[o.i] = o.Outcome
		if o.Missing() && o.Required && r.failed == nil {
			r.failed = &outs[o.i]
			cancel(failedPart(o.Name))
		}
	}
	return outs
}

// failedPart is the cause of a cancel by the screen itself.
func failedPart(name string) error { return fmt.Errorf("required part %s had failed", name) }

// part makes one part, and its fallback if it comes to that.
func (r *run) part(ctx context.Context, p *part) Outcome {
	now := time.Now()
	left := max(0, r.until.Sub(now))
	o := Outcome{Name: p.Name, Required: !p.Optional, Group: p.group, At: now.Sub(r.began), Left: left}
	most := max(0, left-p.Fallback.SetAside.D)
	limit := min(p.limit, most)
	switch {
	case canceled(ctx):
		cause := context.Cause(ctx)
		r.skip(&o, &ending{class: budgetcaller.ClassCanceled, why: cause.Error(), err: fmt.Errorf("%s: not called: %w", p.Name, cause)})
	case limit < p.floor:
		err := &budgetcaller.Error{
			Dependency: p.Name, Class: budgetcaller.ClassBelowFloor, Limit: budgetcaller.LimitFloor,
			Configured: p.floor, Left: limit, Needed: p.floor,
		}
		e := &ending{err: err}
		e.failed(ctx, p, err, limit, false)
		r.skip(&o, e)
	default:
		inner, cancel := context.WithDeadline(ctx, now.Add(limit))
		ret := r.screen.guard(inner, p.Call, p.Read)
		e := judge(inner, p, ret, limit, p.limit < most)
		cancel()
		o.set(e)
		o.add(r.lines(p, e, now, now.Add(limit))...)
		if e.err == nil {
			o.Value, o.Source = ret.value, SourceCall
		}
	}
	if o.Err != nil {
		r.fallback(ctx, p, &o)
	}
	o.LeftAfter = max(0, time.Until(r.until))
	return o
}

// skip notes that the part was not called.
func (r *run) skip(o *Outcome, e *ending) {
	o.set(e)
	o.add(Line{
		Part: o.Name, Try: 1, At: o.At, Left: o.Left, LeftAfter: o.Left,
		Class: e.class, Phase: e.phase, Fired: e.limit, Why: e.why,
	})
}

// fallback tries to get a value where the call gave none.
func (r *run) fallback(ctx context.Context, p *part, o *Outcome) {
	if p.Fallback.none() || canceled(ctx) || o.Class == budgetcaller.ClassCanceled {
		return // after a cancel nobody waits for it
	}
	now := time.Now()
	left := max(0, r.until.Sub(now))
	line := Line{Part: p.Name, Fallback: true, At: now.Sub(r.began), Left: left, LeftAfter: left}
	if p.Fallback.Old == nil && left < budgetcaller.DefaultFloor {
		line.Class, line.Fired = budgetcaller.ClassBelowFloor, budgetcaller.LimitFloor
		line.Why = fmt.Sprintf("%v left, floor %v", short(left), budgetcaller.DefaultFloor)
		o.add(line)
		return
	}
	ret, source := r.substitute(ctx, p)
	if source == SourceOld {
		// It costs nothing, so it is served even when nothing is left: only its
		// own word counts.
		ctx = context.WithoutCancel(ctx)
	}
	e := judge(ctx, p, ret, left, false)
	if e.err == nil {
		o.Value, o.Source = ret.value, source
		if old, ok := ret.value.(oldValue); ok {
			o.Value, o.Age = old.value, old.age
		}
	}
	line.Called, line.Limit, line.Used = e.called, left, time.Since(now)
	line.LeftAfter = max(0, time.Until(r.until))
	line.Class, line.Phase, line.Fired, line.Status, line.Why = e.class, e.phase, e.limit, e.status, e.why
	o.add(line)
	if len(e.attempts) > 0 { // it went to a partner
		o.Effect = max(o.Effect, e.effect)
	}
}

// substitute runs the fallback.
func (r *run) substitute(ctx context.Context, p *part) (returned, Source) {
	if p.Fallback.Old != nil {
		return r.screen.guard(ctx, p.Fallback.old, p.Read), SourceOld
	}
	return r.screen.guard(ctx, p.Fallback.Func, p.Read), SourceFallback
}

// errNoOld is why an old value was not served.
var errNoOld = errors.New("there is no old value")

// oldValue is what a Fallback's Old returned.
type oldValue struct {
	value any
	age   time.Duration
}

// old is Old as a Func that returns an oldValue.
func (f *Fallback) old(context.Context) (any, error) {
	value, got, ok := f.Old()
	if !ok {
		return nil, errNoOld
	}
	age := max(0, time.Since(got))
	if f.MaxAge.D > 0 && age > f.MaxAge.D {
		return nil, fmt.Errorf("the old value is %v old, at most %v", age.Round(time.Second), f.MaxAge.D)
	}
	return oldValue{value, age}, nil
}
