package deadlinechain

import (
	"fmt"
	"slices"
	"testing"
)

func simulate(t *testing.T, c Chain) Result {
	t.Helper()
	r, err := Simulate(c)
	if err != nil {
		t.Fatalf("Simulate(%+v): %v", c, err)
	}
	return r
}

// show writes what the reference tables hold of a result.
func show(r Result) string {
	return fmt.Sprintf("leaf %v all %v elapsed %v orphaned %v overlap %v ok %v",
		r.LeafCalls, r.AllCalls, r.Elapsed, r.Orphaned, r.OrphanedOverlap, r.OK)
}

func TestTableWithoutDeadlineByHops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hops, tries        int
		leaf, all, elapsed int64
	}{
		{2, 3, 3, 6, 30},
		{3, 3, 9, 21, 90},
		{4, 3, 27, 66, 270},
		{5, 3, 81, 201, 810},
		{3, 2, 4, 10, 40},
		{4, 2, 8, 22, 80}, // one hop more, 2 tries: twice
		{3, 4, 16, 36, 160},
		{4, 4, 64, 148, 640}, // 4 tries: four times
		{1, 3, 1, 1, 10},
	} {
		in := Chain{Hops: c.hops, Tries: c.tries, Cost: 10, Fails: Always}
		want := fmt.Sprintf("leaf %d all %d elapsed %d orphaned 0 overlap 0 ok false", c.leaf, c.all, c.elapsed)
		if got := show(simulate(t, in)); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestTableByPolicy(t *testing.T) {
	t.Parallel()
	for policy, want := range map[Policy]string{
		None: "leaf 9 all 21 elapsed 90 orphaned 0 overlap 0 ok false",
		Each: "leaf 6 all 14 elapsed 60 orphaned 10 overlap 15 ok false",
		Pass: "leaf 4 all 10 elapsed 40 orphaned 0 overlap 0 ok false",
	} {
		in := Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: Always, Policy: policy}
		if got := show(simulate(t, in)); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestTableByHopsUnderABudget(t *testing.T) {
	t.Parallel()
	for policy, want := range map[Policy][]string{
		None: {"3/30", "9/90", "27/270", "81/810"},
		Pass: {"3/30", "4/40", "4/40", "4/40"},
	} {
		var got []string
		for hops := 2; hops <= 5; hops++ {
			r := simulate(t, Chain{Hops: hops, Tries: 3, Cost: 10, Budget: 45, Fails: Always, Policy: policy})
			got = append(got, fmt.Sprintf("%v/%v", r.LeafCalls, r.Elapsed))
		}
		if !slices.Equal(got, want) {
			t.Errorf("policy %s, budget 45, hops 2 to 5: got %v, want %v", policy, got, want)
		}
	}
}

func TestTableByBudgetWithSuccessAtTheFifthCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget, leaf, elapsed int64
		ok                    bool
	}{
		{20, 2, 20, false},
		{40, 4, 40, false},
		{50, 5, 50, true},
		{60, 5, 50, true},
		{100, 5, 50, true},
	} {
		in := Chain{Hops: 3, Tries: 3, Cost: 10, Budget: c.budget, Fails: 4, Policy: Pass}
		r := simulate(t, in)
		got := fmt.Sprint(r.LeafCalls, r.Elapsed, r.OK)
		if want := fmt.Sprint(c.leaf, c.elapsed, c.ok); got != want {
			t.Errorf("%+v: got %s, want %s", in, got, want)
		}
	}
}

// Browser 3, API 3, SDK 3.
func TestTriesInLayersMultiply(t *testing.T) {
	t.Parallel()
	if got := simulate(t, Chain{Hops: 4, Tries: 3, Cost: 10, Fails: Always}).LeafCalls; got.Int64() != 27 {
		t.Errorf("3 layers of 3 tries: %v leaf calls, want 27", got)
	}
}

func TestS1TriesMultiply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tries         []int
		leaf, elapsed int64 // in ms
	}{
		{[]int{4, 3}, 12, 600},
		{[]int{3, 3, 5}, 45, 2250},
		{[]int{3, 5}, 15, 750},
		{[]int{3, 3, 3, 3}, 81, 4050},
		{[]int{4, 4, 4}, 64, 3200},
		{[]int{1, 1, 5}, 5, 250},
	} {
		backwards := slices.Clone(c.tries)
		slices.Reverse(backwards)
		for _, tries := range [][]int{c.tries, c.tries, backwards} {
			in := Chain{Hops: len(tries) + 1, Cost: 50, Fails: Always}
			for _, n := range tries {
				in.PerHop = append(in.PerHop, Hop{Tries: n})
			}
			r := simulate(t, in)
			if r.LeafCalls.Int64() != c.leaf || r.Elapsed.Int64() != c.elapsed || r.Entry.Int64() != c.elapsed {
				t.Errorf("tries %v: %v leaf calls in %v, want %d in %d", tries, r.LeafCalls, r.Elapsed, c.leaf, c.elapsed)
			}
		}
	}
}

func TestS2WhatEachTryIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		policy              Policy
		backoff             int64
		told                []int64
		entry, end, overlap int64
	}{
		{"passed down", Pass, 0, []int64{100, 100, 50}, 250, 250, 0},
		// After the second try, at 225, the wait would end with nothing left: the
		// entry gives up then and does not wait.
		{"passed down, backoff", Pass, 25, []int64{100, 100}, 225, 225, 0},
		{"per hop", Each, 0, []int64{100, 100, 100}, 250, 300, 50},
		{"per hop, backoff", Each, 25, []int64{100, 100}, 225, 225, 0},
	} {
		in := Chain{
			Hops: 2, Tries: 3, Budget: 250, PerTry: 100, Fails: Always, Policy: c.policy,
			Backoff: Backoff{Base: c.backoff, Cap: c.backoff}, Trace: 100,
		}
		r := simulate(t, in)
		if got := r.Trace.Told(1); !slices.Equal(got, c.told) {
			t.Errorf("%s: the tries are told %v, want %v", c.name, got, c.told)
		}
		got := fmt.Sprint(r.Entry, r.Elapsed, r.OrphanedOverlap, r.Orphaned, r.OK)
		if want := fmt.Sprint(c.entry, c.end, c.overlap, 0, false); got != want {
			t.Errorf("%s: entry, end, overlap, orphaned, ok: got %s, want %s", c.name, got, want)
		}
	}
}

func TestRetryDelays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, most int64
		jitter     float64
		attempt    int
		want       int64
	}{
		{100, 1000, 0.5, 1, 50},
		{100, 1000, 0.5, 2, 100},
		{100, 250, 0.5, 3, 125}, // 250 is halved, not 400
		{100, 1000, 0, 3, 0},
		{100, 1000, 1, 3, 400},
		{100, 1000, 1, 5, 1000},
		{200, 0, 1, 37, MaxTime}, // no overflow
		{200, 1000, 1, 1 << 40, 1000},
	} {
		got, err := Backoff{Base: c.base, Cap: c.most}.Delay(c.attempt, c.jitter)
		if err != nil || got != c.want {
			t.Errorf("base %d, cap %d, jitter %v, attempt %d: got %d, %v, want %d", c.base, c.most, c.jitter, c.attempt, got, err, c.want)
		}
	}
}
