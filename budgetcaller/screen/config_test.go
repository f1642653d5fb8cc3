package screen

import (
	"math"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := Part{Name: "a", Call: hangs}
	with := func(change func(*Part)) [][]Part {
		p := good
		change(&p)
		return [][]Part{{p}}
	}
	for _, tt := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no budget", Config{Groups: [][]Part{{good}}}, "screen: Budget: 0s is out of range"},
		{"no limit", Config{Name: "order", Budget: For(budgetcaller.NoLimit, ""), Groups: [][]Part{{good}}}, "order: Budget: "},
		{"negative reserve", Config{Budget: For(time.Second, ""), Reserve: For(-2, ""), Groups: [][]Part{{good}}}, "Reserve: -2ns is out of range"},
		{"reserve as long as the budget", Config{Budget: For(time.Second, ""), Reserve: For(time.Second, ""), Groups: [][]Part{{good}}}, "Reserve: 1s is out of range"},
		{"no parts", Config{Budget: For(time.Second, "")}, "0 parts: from 1 to 1000"},
		{"an empty group", Config{Budget: For(time.Second, ""), Groups: [][]Part{{good}, {}}}, "group 1 has no parts"},
		{"no name", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Name = "" })}, "part 0 of group 0 has no Name"},
		{"a name twice", Config{Budget: For(time.Second, ""), Groups: [][]Part{{good}, {good}}}, `part 0 of group 1: Name "a" is taken`},
		{"a name of ours", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Name = "degraded" })}, `Name "degraded" is taken`},
		{"no call", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Call = nil })}, "part a: no Call"},
		{"negative limit", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Limit.D = -1 })}, "part a: Limit: -1ns is out of range"},
		{"huge floor", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Floor.D = math.MaxInt64 })}, "part a: Floor: "},
		{"limit below the floor", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Limit.D, p.Expected.D = ms, 2*ms })}, "part a: Limit: 1ms is below the floor of 2ms"},
		{"availability", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Availability = math.NaN() })}, "part a: Availability: NaN is out of range"},
		{"two fallbacks", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) {
			p.Fallback = Fallback{Func: hangs, Old: func() (any, time.Time, bool) { return nil, time.Time{}, false }}
		})}, "part a: both Func and Old in Fallback"},
		{"time for nothing", Config{Budget: For(time.Second, ""), Groups: with(func(p *Part) { p.Fallback.SetAside.D = ms })}, "part a: no Func needs Fallback.SetAside"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		budget         time.Duration
		part           Part
		reserve, floor time.Duration
	}{
		{"nothing", 2 * time.Second, Part{}, 50 * ms, ms},
		{"a short budget", 200 * ms, Part{}, 20 * ms, ms},
		{"expected is the floor", 2 * time.Second, Part{Expected: For(70*ms, "")}, 50 * ms, 70 * ms},
		{"a floor of its own", 2 * time.Second, Part{Expected: For(70*ms, ""), Floor: For(30*ms, "")}, 50 * ms, 30 * ms},
		{"the dependency's", 2 * time.Second, Part{Dependency: &budgetcaller.Dependency{Expected: 90 * ms}}, 50 * ms, 90 * ms},
		{"the dependency's floor", 2 * time.Second, Part{Dependency: &budgetcaller.Dependency{Limits: budgetcaller.Limits{Floor: 80 * ms}}}, 50 * ms, 80 * ms},
	} {
		tt.part.Name, tt.part.Call = "a", hangs
		s, err := New(Config{Budget: For(tt.budget, ""), Groups: [][]Part{{tt.part}}})
		if err != nil {
			t.Fatal(err)
		}
		if p := s.groups[0][0]; s.reserve.D != tt.reserve || p.floor != tt.floor {
			t.Errorf("%s: reserve %v, floor %v; want %v, %v", tt.name, s.reserve.D, p.floor, tt.reserve, tt.floor)
		}
	}
}
