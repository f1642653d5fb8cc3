package faults

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ask sends one request on a connection of its own and returns the status; 0 if
// there is no answer within a second, -1 if the port refused.
func ask(t *testing.T, l Listener) int {
	t.Helper()
	nc, err := net.DialTimeout("tcp", l.Addresses[0].String(), time.Second)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return -1
	}
	if err != nil {
		return 0
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(time.Second))
	send(t, nc, get)
	head, _ := bufio.NewReader(nc).ReadString('\n')
	if len(head) < 12 {
		return 0
	}
	return int(head[9]-'0')*100 + int(head[10]-'0')*10 + int(head[11]-'0')
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(15 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not within 15 s: %s", what)
		}
	}
}

// TestSet: a listener changes while it runs, ports included, and goes back.
func TestSet(t *testing.T) {
	t.Parallel()
	needs(t, "refused")
	p, l := start(t, "ok")
	for _, tc := range []struct {
		fault string
		want  int
	}{{"status", 503}, {"refused", -1}, {"connect-timeout", 0}, {"ok", 200}, {"silent", 0}, {"refused", -1}} {
		if err := p.Set(l.Name, []Spec{spec(t, tc.fault)}, 0); err != nil {
			t.Fatalf("Set(%s): %v", tc.fault, err)
		}
		if got := ask(t, l); got != tc.want {
			t.Errorf("after Set(%s): got %d, want %d", tc.fault, got, tc.want)
		}
		if d := p.Listeners()[0]; d.Name != "ok" || d.Mode != tc.fault || d.URL != l.URL {
			t.Errorf("after Set(%s): the listener is %+v", tc.fault, d)
		}
	}
	if err := p.Reset(""); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, l); got != 200 {
		t.Errorf("after Reset: got %d, want 200", got)
	}
}

// TestSetFallsBack: a change with a time to live ends by itself, and returns to
// what was set for good.
func TestSetFallsBack(t *testing.T) {
	t.Parallel()
	needs(t, "refused")
	p, l := start(t, "ok")
	const ttl = 2 * time.Second
	steps := []struct {
		fault string
		ttl   time.Duration
	}{{"status:status=404", 0}, {"refused", ttl}, {"status:status=500", ttl}}
	for _, s := range steps {
		if err := p.Set(l.Name, []Spec{spec(t, s.fault)}, s.ttl); err != nil {
			t.Fatal(err)
		}
	}
	if d := p.Listeners()[0]; d.UntilMS == 0 || d.Faults[0] != "status:status=500" {
		t.Errorf("during the time to live: %+v", d)
	}
	began := time.Now()
	if got := ask(t, l); got != 500 {
		t.Errorf("during the time to live: got %d, want 500", got)
	}
	waitFor(t, "404 again", func() bool { return ask(t, l) == 404 })
	within(t, "fall back", time.Since(began), 0, ttl)
	if d := p.Listeners()[0]; d.UntilMS != 0 {
		t.Errorf("after the time to live: %+v", d)
	}
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	p, l := start(t, "ok")
	for want, err := range map[string]error{
		`no listener "nosuch": one of ok`: p.Set("nosuch", nil, 0),
		"can never act":                   p.Set(l.Name, []Spec{spec(t, "slow"), spec(t, "refused")}, 0),
		"out of range: 0 to 24h":          p.Set(l.Name, nil, -time.Second),
		"more than 100":                   p.Set(l.Name, make([]Spec, 101), 0),
	} {
		var wrong *ConfigError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &wrong) {
			t.Errorf("got %v, want a ConfigError with %q", err, want)
		}
	}
	if got := ask(t, l); got != 200 {
		t.Errorf("after refused changes: got %d, want 200", got)
	}
}

// TestStages: entries with for follow one another, port and all.
func TestStages(t *testing.T) {
	t.Parallel()
	needs(t, "refused")
	began := time.Now()
	_, l := start(t, "refused:for=2s", "status:for=3s", "ok")
	if got := ask(t, l); got != -1 {
		t.Errorf("at the start: got %d, want refused", got)
	}
	waitFor(t, "503", func() bool { return ask(t, l) == 503 })
	within(t, "the second stage", time.Since(began), 2*time.Second, 2*time.Second)
	waitFor(t, "200", func() bool { return ask(t, l) == 200 })
	within(t, "the third stage", time.Since(began), 5*time.Second, 5*time.Second)
}

// TestSeed: a concurrent run shows exactly what the schedule told, and another
// seed or another listener something else.
func TestSeed(t *testing.T) {
	t.Parallel()
	const n = 200
	row := []string{"status:status=500,when=ratio=0.3", "slow:delay=uniform(0s,3ms),when=ratio=0.5"}
	specs := []Spec{spec(t, row[0]), spec(t, row[1])}
	p, l := startWith(t, Config{Seed: 7}, row...)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			nc := dial(t, l)
			br := bufio.NewReader(nc)
			for range n / 8 {
				send(t, nc, get)
				io.Copy(io.Discard, readAnswer(t, br).Body)
			}
		})
	}
	wg.Wait()
	stages, err := Schedule(specs, 7, "", n)
	if err != nil || len(stages) != 1 || len(stages[0].Rows) != n {
		t.Fatalf("Schedule: %d stages, %v", len(stages), err)
	}
	rows := stages[0].Rows
	seen := 0
	for _, e := range p.Ledger().Entries(Query{}) {
		if e.Kind != "request" {
			continue
		}
		seen++
		want := rows[e.Number-1]
		if mode, _, _ := strings.Cut(want.Request, ":"); e.Mode != mode || e.Asked != ms(int64(want.Delay)) {
			t.Errorf("request %d: got %s with %.3f ms, the schedule says %s with %v", e.Number, e.Mode, e.Asked, want.Request, want.Delay)
		}
	}
	if seen != n {
		t.Errorf("the ledger holds %d requests, want %d", seen, n)
	}
	same := func(seed uint64, listener string) int {
		other, err := Schedule(specs, seed, listener, n)
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for i, r := range other[0].Rows {
			if r.Request == rows[i].Request && r.Delay == rows[i].Delay {
				same++
			}
		}
		return same
	}
	if got := same(7, "status+slow"); got != n {
		t.Errorf("the same again: %d of %d are the same", got, n)
	}
	if a, b := same(8, ""), same(7, "other"); a > n*7/10 || b > n*7/10 {
		t.Errorf("another seed: %d of %d are the same; another listener: %d", a, n, b)
	}
}

func TestScheduleStages(t *testing.T) {
	t.Parallel()
	specs := []Spec{spec(t, "refused:for=10s"), spec(t, "silent:when=every=2"), spec(t, "slow:when=first=1")}
	got, err := Schedule(specs, 1, "x", 3)
	if err != nil || len(got) != 2 || got[0].Port != "refused:for=10s" || len(got[0].Rows) != 0 || got[1].From != 10*time.Second {
		t.Fatalf("Schedule = %+v, %v", got, err)
	}
	for i, want := range []Row{
		{1, "slow:when=first=1", 3 * time.Second, ""},
		{2, "ok", 0, "silent:when=every=2"},
		{3, "ok", 0, ""},
	} {
		if got[1].Rows[i] != want {
			t.Errorf("row %d: got %+v, want %+v", i+1, got[1].Rows[i], want)
		}
	}
}

// Config.Check is asked about the listeners as they would be, with their ports,
// and what it refuses does not come into force.
func TestChangeIsChecked(t *testing.T) {
	t.Parallel()
	refused := errors.New("two are slow")
	var mu sync.Mutex
	var asked []ListenerConfig
	p, l := startWith(t, Config{
		Listeners: []ListenerConfig{{Name: "a", Listen: "localhost:0"}, {Name: "b", Faults: []Spec{spec(t, "slow:delay=1ms")}}},
		Check: func(all []ListenerConfig) error {
			mu.Lock()
			defer mu.Unlock()
			asked = all
			if modeOf(all[0].Faults) == "slow" && modeOf(all[1].Faults) == "slow" {
				return refused
			}
			return nil
		},
	})
	set := func(name, fault string) error { return p.Set(name, []Spec{spec(t, fault)}, 0) }
	var wrong *ConfigError
	if err := set("a", "slow"); !errors.Is(err, refused) || !errors.As(err, &wrong) {
		t.Errorf("Set: got %v, want a ConfigError with %v", err, refused)
	}
	mu.Lock()
	_, port, _ := net.SplitHostPort(l.URL[len("http://"):])
	if want := "localhost:" + port; asked[0].Listen != want || asked[1].Listen != p.Listeners()[1].Addresses[0].String() || asked[1].Name != "b" {
		t.Errorf("asked about %+v, want a at %s and b at its port", asked, want)
	}
	mu.Unlock()
	if mode := p.Listeners()[0].Mode; mode != "ok" {
		t.Errorf("after a refused change the mode is %s", mode)
	}
	// Back to what was begun with is checked for one listener, not for all.
	if err := errors.Join(set("b", "ok"), set("a", "slow")); err != nil {
		t.Fatal(err)
	}
	if err := p.Reset("b"); !errors.Is(err, refused) {
		t.Errorf("Reset of one: got %v, want %v", err, refused)
	}
	if err := p.Reset(""); err != nil || p.Listeners()[0].Mode != "ok" || p.Listeners()[1].Mode != "slow" {
		t.Errorf("Reset of all: got %v, %+v", err, p.Listeners())
	}
}
