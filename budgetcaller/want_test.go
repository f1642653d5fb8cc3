package budgetcaller

import (
	"slices"
	"strconv"
	"testing"
	"time"
)

// want is what a record must say. Times: never before least, at most slack
// after most (zero: only the slack).
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
	if rec.Class != w.class || rec.Limit != w.limit {
		t.Errorf("got %v, limit %v, in %v after %v (%v)\nwant %v, limit %v", rec.Class, rec.Limit, rec.Phase, rec.Elapsed, rec.Err, w.class, w.limit)
	}
	if len(w.phases) > 0 && !slices.Contains(w.phases, rec.Phase) {
		t.Errorf("phase %v, want one of %v (%v)", rec.Phase, w.phases, rec.Err)
	}
	if len(w.effects) > 0 && !slices.Contains(w.effects, rec.Effect) {
		t.Errorf("effect %v, want one of %v (%v)", rec.Effect, w.effects, rec.Err)
	}
	if rec.Status != w.status {
		t.Errorf("status %d, want %d", rec.Status, w.status)
	}
	if rec.Bytes != w.bytes || rec.Expected != w.expected {
		t.Errorf("%d bytes of %d, want %d of %d", rec.Bytes, rec.Expected, w.bytes, w.expected)
	}
	least := w.least
	if w.limit == LimitBudget {
		least -= 100 * ms // it began before the attempt did; runIn looks at the exact end
	}
	if rec.Elapsed < least || rec.Elapsed > max(w.least, w.most)+slack {
		t.Errorf("ended after %v, want from %v to %v", rec.Elapsed, w.least, max(w.least, w.most)+slack)
	}
}

// The usual ends, for short tables.
func in(p ...Phase) []Phase { return p }

func none() []Effect     { return []Effect{EffectNone} }
func unknown() []Effect  { return []Effect{EffectUnknown} }
func answered() []Effect { return []Effect{EffectAnswered} }

func itoa(n int) string { return strconv.Itoa(n) }
