package stall

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"chaoslab/internal/importcheck"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".")
}

const ms = time.Millisecond

func TestBetween(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(n int) time.Time { return start.Add(time.Duration(n) * ms) }
	w := &Watch{due: at(5)}
	// It wakes on time, 40 ms late, just not late enough to count, 300 ms late, and
	// at 500 it should have woken at 405.
	for _, now := range []int{5, 50, 59, 364, 400} {
		w.woke(at(now))
	}
	for _, c := range []struct {
		name     string
		from, to int
		want     time.Duration
	}{
		{"all of it", 0, 400, 40*ms + 300*ms + 31*ms},
		{"before the first", 0, 9, 0},
		{"from within the first", 30, 60, 20 * ms},
		{"within the second", 100, 200, 100 * ms},
		{"to within the second", 0, 164, 40*ms + 100*ms},
		{"after the last", 400, 404, 0},
		{"not woken yet, on time", 400, 409, 0},
		{"not woken yet", 400, 500, 95 * ms},
		{"not woken yet, from within it", 450, 500, 50 * ms},
	} {
		if got := w.between(at(c.from), at(c.to)); got != c.want {
			t.Errorf("%s: from %d to %d ms the machine stalled for %v, want %v", c.name, c.from, c.to, got, c.want)
		}
	}
}

// What is kept is bounded, and what is left is the newest.
func TestKept(t *testing.T) {
	t.Parallel()
	now := time.Now()
	start := now
	w := &Watch{due: now}
	for range 2*kept + kept/4 {
		now = now.Add(every + 10*ms)
		w.woke(now)
	}
	if n := len(w.stalls); n > kept || n < kept/2 {
		t.Errorf("%d stalls kept, want %d to %d", n, kept/2, kept)
	}
	if got := w.between(now.Add(-1500*ms), now); got != 1000*ms {
		t.Errorf("in the last 1.5 s: %v, want 1s", got)
	}
	if got := w.between(start, now); got > kept*10*ms {
		t.Errorf("in all: %v, want no more than is kept", got)
	}
}

// Where waiting costs no time, nothing stalls.
func TestWatchOfAQuietMachine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := Start()
		defer w.Stop()
		began := time.Now()
		time.Sleep(time.Minute)
		if got := w.Since(began); got != 0 {
			t.Errorf("stalled for %v, want not at all", got)
		}
	})
}

// A watch that does not get to run says so, also while it does not.
func TestWatchOfABusyMachine(t *testing.T) {
	t.Parallel()
	w := Start()
	began := time.Now()
	w.mu.Lock() // where it waits, as for a core
	time.Sleep(200 * ms)
	w.mu.Unlock()
	if got, room := w.Since(began), w.Room(began); got < 150*ms || room < 2*got {
		t.Errorf("stalled for %v, room of %v; want 150ms at least, and twice that", got, room)
	}
	w.Stop()
}

func TestAgain(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	// A run is good or bad, in calm or while the machine stalls.
	type run struct {
		err     error
		stalled bool
	}
	for _, c := range []struct {
		name string
		runs []run
		made int
		says string // its error; none: ""
	}{
		{"good", []run{{nil, false}}, 1, ""},
		{"good in spite of a stall", []run{{nil, true}}, 1, ""},
		{"bad", []run{{bad, false}, {nil, false}}, 1, "bad"},
		{"bad by a stall, then good", []run{{bad, true}, {nil, false}}, 2, ""},
		{"bad by a stall, then bad", []run{{bad, true}, {bad, false}, {nil, false}}, 2, "bad"},
		{"bad by stalls only", slices.Repeat([]run{{bad, true}}, tries), tries, "the machine stalled for 100ms and more in each of 20 tries, the last: bad"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &Watch{}
			made := 0
			err := w.Again(100*ms, func() error {
				now := c.runs[made]
				made++
				w.due = time.Now().Add(every)
				if now.stalled {
					time.Sleep(200 * ms) // and it does not wake
				}
				return now.err
			})
			if made != c.made || (c.says == "") != (err == nil) || err != nil && (!errors.Is(err, bad) || err.Error() != c.says) {
				t.Errorf("%s: %d runs, %v; want %d, %q", c.name, made, err, c.made, c.says)
			}
		})
	}
}
