package screen

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaoslab/budgetcaller"
)

// want is how a part is to end.
type want struct {
	source   Source
	class    budgetcaller.Class
	why      string // part of it
	at, used time.Duration
	lines    int
}

func TestParts(t *testing.T) {
	t.Parallel()
	old := func(age time.Duration) func() (any, time.Time, bool) {
		return func() (any, time.Time, bool) { return "old", time.Now().Add(-age), true }
	}
	none := func() (any, time.Time, bool) { return nil, time.Time{}, false }
	ok, failed, exhausted := budgetcaller.ClassOK, budgetcaller.ClassNone, budgetcaller.ClassBudgetExhausted
	for _, tt := range []struct {
		name    string
		reserve time.Duration
		groups  [][]Part
		elapsed time.Duration
		err     string // part of it, empty if there is none
		want    map[string]want
	}{
		{
			"in order", 0,
			[][]Part{{{Name: "a", Call: takes(100*ms, 1)}}, {{Name: "b", Call: takes(200*ms, 2)}}},
			300 * ms, "",
			map[string]want{"a": {SourceCall, ok, "", 0, 100 * ms, 1}, "b": {SourceCall, ok, "", 100 * ms, 200 * ms, 1}},
		},
		{
			"side by side", 0,
			[][]Part{{{Name: "a", Call: takes(100*ms, 1)}, {Name: "b", Call: takes(200*ms, 2)}}},
			200 * ms, "",
			map[string]want{"a": {SourceCall, ok, "", 0, 100 * ms, 1}, "b": {SourceCall, ok, "", 0, 200 * ms, 1}},
		},
		{
			"an optional part hangs: cut before the reserve", 100 * ms,
			[][]Part{{{Name: "a", Call: takes(100*ms, 1)}, {Name: "b", Optional: true, Call: hangs}}},
			900 * ms, "",
			map[string]want{"a": {SourceCall, ok, "", 0, 100 * ms, 1}, "b": {SourceNone, exhausted, "the 900ms left for it", 0, 900 * ms, 1}},
		},
		{
			"its own limit", 0,
			[][]Part{{{Name: "b", Optional: true, Call: hangs, Limit: For(150*ms, "")}}, {{Name: "a", Call: takes(1*ms, 1)}}},
			151 * ms, "",
			map[string]want{"b": {SourceNone, exhausted, "its limit of 150ms", 0, 150 * ms, 1}, "a": {SourceCall, ok, "", 150 * ms, 1 * ms, 1}},
		},
		{
			"a required part fails: the others are stopped", 0,
			[][]Part{{{Name: "a", Call: breaks(50 * ms)}, {Name: "b", Call: hangs}}, {{Name: "c", Call: takes(1*ms, 1)}}},
			50 * ms,
			"screen: required part failed: a: broken",
			map[string]want{
				"a": {SourceNone, failed, "broken", 0, 50 * ms, 1},
				"b": {SourceNone, budgetcaller.ClassCanceled, "required part a had failed", 0, 50 * ms, 1},
				"c": {SourceNone, budgetcaller.ClassCanceled, "required part a had failed", 50 * ms, 0, 1},
			},
		},
		{
			"a required part with a fallback has not failed", 0,
			[][]Part{{{Name: "a", Call: breaks(50 * ms), Fallback: Fallback{Func: takes(30*ms, 2)}}}, {{Name: "c", Call: takes(1*ms, 1)}}},
			81 * ms, "",
			map[string]want{"a": {SourceFallback, failed, "broken", 0, 80 * ms, 2}, "c": {SourceCall, ok, "", 80 * ms, 1 * ms, 1}},
		},
		{
			"time set aside for the fallback", 0,
			[][]Part{{{Name: "a", Call: hangs, Fallback: Fallback{Func: takes(150*ms, 2), SetAside: For(200*ms, "")}}}},
			950 * ms, "",
			map[string]want{"a": {SourceFallback, exhausted, "the 800ms left for it", 0, 950 * ms, 2}},
		},
		{
			"nothing left for the fallback", 0,
			[][]Part{{{Name: "a", Optional: true, Call: hangs, Fallback: Fallback{Func: takes(0, 2)}}}},
			1000 * ms, "",
			map[string]want{"a": {SourceNone, exhausted, "", 0, 1000 * ms, 2}},
		},
		{
			"an old value", 0,
			[][]Part{{{Name: "a", Call: hangs, Fallback: Fallback{Old: old(time.Minute), MaxAge: For(time.Minute, "")}}}},
			1000 * ms, "",
			map[string]want{"a": {SourceOld, exhausted, "", 0, 1000 * ms, 2}},
		},
		{
			"an old value that is too old", 0,
			[][]Part{{{Name: "a", Optional: true, Call: breaks(0), Fallback: Fallback{Old: old(time.Minute), MaxAge: For(59*time.Second, "")}}}},
			0, "",
			map[string]want{"a": {SourceNone, failed, "broken", 0, 0, 2}},
		},
		{
			"no old value", 0,
			[][]Part{{{Name: "a", Call: breaks(0), Fallback: Fallback{Old: none}}}},
			0, "a: broken",
			map[string]want{"a": {SourceNone, failed, "broken", 0, 0, 2}},
		},
		{
			"below the floor, with a fallback", 0,
			[][]Part{{{Name: "a", Call: takes(900*ms, 1)}}, {{Name: "b", Call: takes(0, 1), Floor: For(200*ms, ""), Fallback: Fallback{Func: takes(50*ms, 2)}}}},
			950 * ms, "",
			map[string]want{
				"a": {SourceCall, ok, "", 0, 900 * ms, 1},
				"b": {SourceFallback, budgetcaller.ClassBelowFloor, "100ms left, floor 200ms", 900 * ms, 50 * ms, 2},
			},
		},
		{
			"a panic is the part's failure", 0,
			[][]Part{{{Name: "a", Optional: true, Call: func(context.Context) (any, error) { panic("oh no") }}, {Name: "b", Call: takes(10*ms, 1)}}},
			10 * ms, "",
			map[string]want{"a": {SourceNone, failed, "panic: oh no", 0, 0, 1}, "b": {SourceCall, ok, "", 0, 10 * ms, 1}},
		},
		{
			"a panic in a fallback", 0,
			[][]Part{{{Name: "a", Call: breaks(0), Fallback: Fallback{Old: func() (any, time.Time, bool) { panic("again") }}}}},
			0, "a: broken",
			map[string]want{"a": {SourceNone, failed, "broken", 0, 0, 2}},
		},
		{
			"a function that ends its goroutine", 0,
			[][]Part{{{Name: "a", Optional: true, Call: func(context.Context) (any, error) { runtime.Goexit(); return 1, nil }}}},
			0, "",
			map[string]want{"a": {SourceNone, failed, "it ended its goroutine", 0, 0, 1}},
		},
		{
			"a function that does not obey", 0,
			[][]Part{{{Name: "a", Optional: true, Call: func(context.Context) (any, error) { time.Sleep(time.Hour); return 1, nil }}}},
			1000*ms + Grace, "",
			map[string]want{"a": {SourceNone, exhausted, "does not obey its context", 0, 1000*ms + Grace, 1}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mustNew(t, Config{Budget: For(time.Second, ""), Reserve: For(tt.reserve, ""), Groups: tt.groups})
				res, err := s.Run(t.Context())
				if got := fmt.Sprint(err); err == nil && tt.err != "" || err != nil && (tt.err == "" || !strings.Contains(got, tt.err)) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				if res.Elapsed != tt.elapsed {
					t.Errorf("elapsed %v, want %v", res.Elapsed, tt.elapsed)
				}
				for name, w := range tt.want {
					o := res.Part(name)
					if o.Source != w.source || o.Class != w.class || !strings.Contains(o.Why, w.why) || o.At != w.at || o.Used != w.used || len(o.Lines) != w.lines {
						t.Errorf("part %s: got %+v, want %+v", name, o, w)
					}
					if missing := slices.Contains(res.Degraded, name); missing != (o.Missing() && !o.Required) {
						t.Errorf("part %s: degraded names it: %v; %+v", name, missing, o)
					}
					if o.LeftAfter != max(0, o.Left-o.Waited-o.Used) {
						t.Errorf("part %s: %v left, %v waited, %v used, but %v left after", name, o.Left, o.Waited, o.Used, o.LeftAfter)
					}
				}
				wait, cancel := context.WithTimeout(context.Background(), 2*time.Hour)
				defer cancel()
				if err := s.Wait(wait); err != nil {
					t.Errorf("Wait: %v", err)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fallbacks := 0
		fall := Fallback{Func: func(context.Context) (any, error) { fallbacks++; return 1, nil }}
		s := mustNew(t, Config{Budget: For(time.Second, ""), Groups: [][]Part{
			{{Name: "a", Call: hangs, Fallback: fall}, {Name: "b", Optional: true, Call: breaks(50 * ms)}},
			{{Name: "c", Optional: true, Call: takes(0, 1), Fallback: fall}},
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*ms, cancel)
		res, err := s.Run(ctx)
		if !errors.Is(err, context.Canceled) || res.Err.Class != budgetcaller.ClassCanceled || res.Err.Part != "" {
			t.Errorf("got %v, want the cancel and no part to blame", err)
		}
		if res.Elapsed != 100*ms || fallbacks != 0 {
			t.Errorf("elapsed %v, %d fallbacks; want 100ms and none", res.Elapsed, fallbacks)
		}
		if o := res.Part("c"); o.Called || o.Class != budgetcaller.ClassCanceled {
			t.Errorf("c: %+v, want it not called", o)
		}
		if o := res.Part("b"); o.Class != budgetcaller.ClassNone {
			t.Errorf("b: %+v, want the failure that came before the cancel", o)
		}
		if text, _ := res.MarshalJSON(); string(text) != `{"error":"canceled","class":"canceled","effect":"unknown"}` {
			t.Errorf("answer %s", text)
		}
	})
}

// An earlier deadline of the context is the budget; it is no cancel.
func TestAnEarlierDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mustNew(t, Config{Budget: For(time.Second, ""), Reserve: For(50*ms, ""), Groups: [][]Part{{{Name: "a", Optional: true, Call: hangs}}}})
		ctx, cancel := context.WithTimeout(t.Context(), 300*ms)
		defer cancel()
		res, err := s.Run(ctx)
		if err != nil || res.Budget != 300*ms || res.Elapsed != 250*ms || res.Left != 50*ms {
			t.Errorf("error %v, budget %v, elapsed %v, left %v; want 300ms, 250ms, 50ms", err, res.Budget, res.Elapsed, res.Left)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 20*ms)
		defer cancel()
		if res, err = s.Run(ctx); err != nil || res.Elapsed != 0 || res.Part("a").Class != budgetcaller.ClassBelowFloor {
			t.Errorf("with less than the reserve: error %v, %+v; want nothing called, at once", err, res)
		}
	})
}

func TestWaitObeysItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mustNew(t, Config{Budget: For(time.Second, ""), Groups: [][]Part{{{Name: "a", Call: func(context.Context) (any, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}}}}})
		_, err := s.Run(t.Context())
		if !errors.Is(err, ErrBehind) {
			t.Errorf("got %v, want ErrBehind", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait = %v, want the end of its context", err)
		}
		if err := s.Wait(t.Context()); err != nil {
			t.Errorf("Wait = %v, want nil", err)
		}
	})
}
