package budgetcaller

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"
)

// want is what a record must say. Times: never before least, at most late
// after most (zero: only that).
type want struct {
	class    Class
	phases   []Phase // one of these; none: any
	limit    Limit
	effects  []Effect // one of these; none: any
	status   int
	bytes    int64
	expected int64
	least    time.Duration
	most     time.Duration
}

func (w want) check(t testing.TB, rec Record) {
	t.Helper()
	if err := w.differs(rec); err != nil {
		t.Error(err)
	}
}

// differs says in what rec is not as wanted.
func (w want) differs(rec Record) error {
	var errs []error
	note := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if rec.Class != w.class || rec.Limit != w.limit {
		note("got %v, limit %v, in %v after %v (%v)\nwant %v, limit %v", rec.Class, rec.Limit, rec.Phase, rec.Elapsed, rec.Err, w.class, w.limit)
	}
	if len(w.phases) > 0 && !slices.Contains(w.phases, rec.Phase) {
		note("phase %v, want one of %v (%v)", rec.Phase, w.phases, rec.Err)
	}
	if len(w.effects) > 0 && !slices.Contains(w.effects, rec.Effect) {
		note("effect %v, want one of %v (%v)", rec.Effect, w.effects, rec.Err)
	}
	if rec.Status != w.status {
		note("status %d, want %d", rec.Status, w.status)
	}
	if rec.Bytes != w.bytes || rec.Expected != w.expected {
		note("%d bytes of %d, want %d of %d", rec.Bytes, rec.Expected, w.bytes, w.expected)
	}
	least := w.least
	if w.limit == LimitBudget {
		least -= 100*ms + machine.Since(rec.Start.Add(-w.least)) // it began before the attempt did; runIn looks at the exact end
	}
	if most := max(w.least, w.most) + late(rec.Start); rec.Elapsed < least || rec.Elapsed > most {
		note("ended after %v, want from %v to %v", rec.Elapsed, least, most)
	}
	return errors.Join(errs...)
}

// The usual ends, for short tables.
func in(p ...Phase) []Phase { return p }

func none() []Effect     { return []Effect{EffectNone} }
func unknown() []Effect  { return []Effect{EffectUnknown} }
func answered() []Effect { return []Effect{EffectAnswered} }

func itoa(n int) string { return strconv.Itoa(n) }
