package screen

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"chaoslab/budgetcaller"
)

// account is what a line is compared by.
type account struct {
	part                             string
	try                              int
	left, limit, waited, used, after time.Duration
	called                           bool
	class                            budgetcaller.Class
	why                              string
}

func accounts(res *Result) []account {
	var got []account
	for _, l := range res.Lines() {
		got = append(got, account{l.Part, l.Try, l.Left, l.Limit, l.Waited, l.Used, l.LeftAfter, l.Called, l.Class, l.Why})
	}
	return got
}

func compare(t *testing.T, got, want []account) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("line %d is missing, want %+v", i+1, want[i])
		case i >= len(want):
			t.Errorf("line %d: got %+v, want none", i+1, got[i])
		case got[i] != want[i]:
			t.Errorf("line %d: got\n%+v, want\n%+v", i+1, got[i], want[i])
		}
	}
}

// One screen under one budget, number for number, through a real Caller whose
// network is a stub.
func TestR2OneScreenUnderOneBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := budgetcaller.Dependency{Name: "B", Retry: retry(2, 200*ms)}
		c := newCaller(t, budgetcaller.Config{
			Dependencies: []budgetcaller.Dependency{{Name: "A"}, b, {Name: "C"}},
			Stub: steps{
				"A": {{300 * ms, 200}},
				"B": {{250 * ms, 503}, {400 * ms, 200}},
			},
		})
		s := mustNew(t, Config{
			Name:   "order",
			Budget: For(2*time.Second, "what a customer waits for"),
			Groups: [][]Part{
				{{Name: "A", Call: get(c, "A")}},
				{{Name: "B", Call: get(c, "B"), Dependency: &b}},
				{{Name: "C", Call: get(c, "C"), Optional: true, Floor: For(time.Second, "its p99")}},
			},
		})
		res, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ok, status, below := budgetcaller.ClassOK, budgetcaller.ClassStatus, budgetcaller.ClassBelowFloor
		compare(t, accounts(res), []account{
			{"A", 1, 2000 * ms, 2000 * ms, 0, 300 * ms, 1700 * ms, true, ok, ""},
			{"B", 1, 1700 * ms, 1700 * ms, 0, 250 * ms, 1450 * ms, true, status, "status 503"},
			{"B", 2, 1450 * ms, 1250 * ms, 200 * ms, 400 * ms, 850 * ms, true, ok, ""},
			{"C", 1, 850 * ms, 0, 0, 0, 850 * ms, false, below, "850ms left, floor 1s"},
		})
		if res.Elapsed != 1150*ms || res.Left != 850*ms || res.Budget != 2*time.Second {
			t.Errorf("elapsed %v, left %v of %v; want 1.15s, 850ms of 2s", res.Elapsed, res.Left, res.Budget)
		}
		if bo := res.Part("B"); bo.Waited != 200*ms || bo.Used != 650*ms || bo.At != 300*ms || bo.Effect != budgetcaller.EffectAnswered {
			t.Errorf("B: %+v", bo)
		}
		co := res.Part("C")
		if !errors.Is(co.Err, budgetcaller.ErrBelowFloor) || co.Err.Error() != "C: not called: 850ms left, floor 1s" || co.Effect != budgetcaller.EffectNone {
			t.Errorf("C: %v, effect %v", co.Err, co.Effect)
		}
		if text, err := res.MarshalJSON(); err != nil || string(text) != `{"A":null,"B":null,"C":null,"degraded":["C"]}` {
			t.Errorf("answer %s, %v", text, err)
		}
	})
}

// With 200 ms left, a call that usually takes 400 ms is not made.
func TestR2ExpectedIsTheFloor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mustNew(t, Config{
			Budget: For(200*ms, ""),
			Groups: [][]Part{{{Name: "price", Call: takes(1*ms, 7), Expected: For(400*ms, "p50")}}},
		})
		res, err := s.Run(t.Context())
		if err == nil || err.Error() != "screen: required part failed: price: not called: 200ms left, floor 400ms" {
			t.Errorf("got %v", err)
		}
		if res.Elapsed != 0 || res.Part("price").Called {
			t.Errorf("elapsed %v, called %v; want it not called, at once", res.Elapsed, res.Part("price").Called)
		}
	})
}

// A retry whose wait does not fit is a line of its own.
func TestARetryThatDoesNotFitIsToldOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := budgetcaller.Dependency{Name: "B", Expected: 200 * ms, Limits: budgetcaller.Limits{Attempt: 700 * ms}, Retry: retry(3, 300*ms)}
		c := newCaller(t, budgetcaller.Config{
			Dependencies: []budgetcaller.Dependency{d},
			Stub:         steps{"B": {{600 * ms, 503}}},
		})
		s := mustNew(t, Config{
			Budget: For(time.Second, ""),
			Groups: [][]Part{{{Name: "B", Call: get(c, "B"), Dependency: &d}}},
		})
		res, err := s.Run(t.Context())
		if !errors.Is(err, budgetcaller.ErrBelowFloor) {
			t.Errorf("got %v, want below floor", err)
		}
		compare(t, accounts(res), []account{
			{"B", 1, 1000 * ms, 700 * ms, 0, 600 * ms, 400 * ms, true, budgetcaller.ClassStatus, "status 503"},
			{"B", 2, 400 * ms, 0, 0, 0, 400 * ms, false, budgetcaller.ClassBelowFloor, "the wait does not fit: 400ms left, needs 500ms"},
		})
		if o := res.Part("B"); o.Status != 503 || !o.Called || res.Elapsed != 600*ms {
			t.Errorf("status %d, called %v, elapsed %v; want the last failure kept and no sleep", o.Status, o.Called, res.Elapsed)
		}
	})
}
