package main

import (
	"encoding/json"
	"testing"
	"time"

	"chaoslab/budgetcaller"
)

// values returns 1ms, 2ms … n ms, the greatest first.
func values(n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(n-i) * time.Millisecond
	}
	return all
}

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int
		want string
	}{
		{0, `null`},
		{1, `{"n":1,"min":1,"p50":1,"p90":null,"p99":null,"max":1}`},
		{2, `{"n":2,"min":1,"p50":1,"p90":null,"p99":null,"max":2}`},
		{3, `{"n":3,"min":1,"p50":2,"p90":null,"p99":null,"max":3}`},
		{9, `{"n":9,"min":1,"p50":5,"p90":null,"p99":null,"max":9}`},
		{10, `{"n":10,"min":1,"p50":5,"p90":9,"p99":null,"max":10}`},
		{99, `{"n":99,"min":1,"p50":50,"p90":90,"p99":null,"max":99}`},
		{100, `{"n":100,"min":1,"p50":50,"p90":90,"p99":99,"max":100}`},
		{1000, `{"n":1000,"min":1,"p50":500,"p90":900,"p99":990,"max":1000}`},
	} {
		got, err := json.Marshal(spreadOf(values(c.n)))
		if err != nil || string(got) != c.want {
			t.Errorf("spread of 1 to %d ms: %s, %v; want %s", c.n, got, err, c.want)
		}
	}
}

func TestSummaryKeepsClassesApart(t *testing.T) {
	t.Parallel()
	tl := newTally(mustTarget(t, "http://127.0.0.1:8080/"))
	for i := range 4 {
		tl.add(cut(i+1, 500*time.Millisecond, time.Duration(i+1)*time.Millisecond))
	}
	tl.add(whole(5, 20*time.Millisecond))
	s := tl.summary()
	if s.Runs != 5 || len(s.Classes) != 2 {
		t.Fatalf("summary %+v, want 5 runs in 2 classes", s)
	}
	if c := s.Classes[0]; c.Class != budgetcaller.ClassReadTimeout || c.Count != 4 || c.Overshoot.N != 4 || c.Elapsed.P50.String() != "502" {
		t.Errorf("first class %+v, want 4 of read_timeout with p50 502", c)
	}
	if c := s.Classes[1]; c.Class != budgetcaller.ClassOK || c.Count != 1 || c.Overshoot != nil {
		t.Errorf("second class %+v, want one ok without overshoot", c)
	}
	if s.Elapsed.N != 5 || s.Elapsed.Min.String() != "20" || s.Overshoot.N != 4 || s.Difference != nil {
		t.Errorf("all runs %+v, want 5 elapsed, 4 overshoots, no difference", s.spreads)
	}
}
