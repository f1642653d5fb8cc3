package referee

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"chaoslab/faults"
)

// scenarioRun is one run of a scenario while it is under way.
type scenarioRun struct {
	*prepared
	program *Program
	event   func(Event)

	telling sync.Mutex
	told    map[uint64]bool // what of the ledger has been told

	partner *faults.Partner
	start   time.Time
	rec     *recorder
	canary  canary
	env     []string

	mu    sync.Mutex
	pids  []int
	marks []string // of all processes so far
	lives []Life
	own   []Finding
	syns  map[netip.AddrPort]*syn
	names map[netip.AddrPort]string
	blind bool // the kernel's table could not be read

	looked  time.Time               // when it was last read
	foreign map[netip.AddrPort]bool // connects of other programs
}

// The waits at the end of a run.
const (
	settleLimit = 700 * time.Millisecond // for the partners to notice who has left
	closeLimit  = 5 * time.Second
)

// do runs the scenario. It returns what was seen and what the referee itself
// found fault with. The error is the referee's own.
func (r *scenarioRun) do(ctx context.Context) (*Seen, []Finding, error) {
	var err error
	r.partner, err = faults.Start(faults.Config{Listeners: r.listeners, Seed: r.seed, NoPerRequest: true, LedgerSize: 1 << 14})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
		_ = r.partner.Close(ctx)
	}()
	work, err := os.MkdirTemp(r.program.scratch, "run-")
	if err != nil {
		return nil, nil, err
	}
	r.env = r.environment(work)
	r.syns, r.names, r.foreign = map[netip.AddrPort]*syn{}, map[netip.AddrPort]string{}, map[netip.AddrPort]bool{}
	r.start = time.Now()
	r.looked = r.start
	r.rec = newRecorder(r.start, func(l Line) {
		text := l.Text
		if l.Err {
			text = "stderr: " + text
		}
		r.tell("program", "%s", text)
	})
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { r.canary.watch(watching, r.running) })
	watchers.Go(func() { r.watch(watching) })
	limited, cancel := context.WithCancelCause(ctx)
	watchers.Go(func() { r.endAtLimit(watching, cancel) })
	var replies []Reply
	if r.Hops > 0 {
		replies = r.serve(limited)
	} else {
		r.run(limited)
	}
	cancel(nil)
	r.settle(ctx)
	stop()
	watchers.Wait()
	return r.collect(replies), r.own, nil
}

// environment is what the program is given.
func (r *scenarioRun) environment(work string) []string {
	// Neither the scenario's name nor the seed is among it: a program is not to know
	// what comes.
	env := []string{"LAB_DIR=" + work}
	for i, l := range r.partner.Listeners() {
		url := l.URL + "/"
		if r.SynRetries > 0 {
			url = blackHoleURL()
		}
		if i == 0 {
			env = append(env, "LAB_URL="+url)
		}
		env = append(env, "LAB_URL_"+strings.ToUpper(l.Name)+"="+url)
	}
	for _, name := range slices.Sorted(maps.Keys(r.prepared.env)) {
		env = append(env, name+"="+r.prepared.env[name])
	}
	return env
}

// tell passes an event on, behind what the partners have seen before it.
func (r *scenarioRun) tell(lane, format string, a ...any) {
	if r.event != nil {
		at := millis(time.Since(r.start))
		r.tellNew()
		r.event(r.eventAt(at, lane, format, a...))
	}
}

func (r *scenarioRun) eventAt(ms float64, lane, format string, a ...any) Event {
	return Event{Scenario: r.Name, At: ms, Lane: lane, Text: oneLine(fmt.Sprintf(format, a...))}
}

// find notes what the referee itself finds fault with.
func (r *scenarioRun) find(check, seen, expected, look string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = append(r.own, Finding{Check: check, Verdict: Fail, Seen: oneLine(seen), Expected: expected, Look: look, sure: check != OwnEnds && check != OwnStart})
}

// launch starts the program.
func (r *scenarioRun) launch(env []string) *process {
	pr, err := r.program.start(append(slices.Clone(r.env), env...), r.rec, r.SynRetries)
	if err != nil {
		r.find(OwnStart, err.Error(), "a program that starts", "the file "+RunFile)
		return nil
	}
	r.mu.Lock()
	r.pids = append(r.pids, pr.cmd.Process.Pid)
	r.marks = append(r.marks, pr.mark)
	r.mu.Unlock()
	r.tell("program", "started: %s", r.program)
	return pr
}

// bury notes how a process ended and ends what it left behind.
func (r *scenarioRun) bury(pr *process, killed bool) {
	left := pr.sweep(r.canary.kinOf(pr.cmd.Process.Pid))
	life := Life{Start: millis(pr.started.Sub(r.start)), End: millis(pr.ended.Sub(r.start)), Exit: pr.exit(), Killed: killed}
	r.mu.Lock()
	r.lives = append(r.lives, life)
	r.pids = slices.DeleteFunc(r.pids, func(pid int) bool { return pid == pr.cmd.Process.Pid })
	r.mu.Unlock()
	if left > 0 && !killed {
		r.find(OwnChildren, fmt.Sprintf("%d processes still there when the program had ended (they are gone now)", left), "none", "which children the program starts, and whether it waits for them")
	}
	r.tell("program", "ended, exit %d", life.Exit)
}

func (r *scenarioRun) running() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pids)
}

// run runs the program to its end, or to each kill and then to its end.
func (r *scenarioRun) run(ctx context.Context) {
	for i := 0; ; i++ {
		pr := r.launch(nil)
		if pr == nil {
			return
		}
		kill := make(chan struct{})
		watching, stop := context.WithCancel(ctx)
		if i < len(r.KillAfter) {
			go r.killPoint(watching, r.KillAfter[i], kill)
		}
		again := false
		select {
		case <-pr.done:
		case <-kill:
			r.tell("referee", "kills the program")
			pr.kill()
			again = true
		case <-r.rec.full:
			pr.stop()
		case <-ctx.Done():
			pr.stop()
			r.tooLate(ctx)
		}
		stop()
		r.bury(pr, again)
		if !again {
			return
		}
	}
}

// killPoint closes kill once the partners have seen so many requests.
func (r *scenarioRun) killPoint(ctx context.Context, after int, kill chan<- struct{}) {
	t := time.NewTicker(2 * time.Millisecond)
	defer t.Stop()
	for {
		n := 0
		for _, e := range r.partner.Ledger().Entries(faults.Query{}) {
			if e.Kind == "request" {
				n++
			}
		}
		if n >= after {
			close(kill)
			return
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// settle waits until the partners have noticed that the program has gone.
func (r *scenarioRun) settle(ctx context.Context) {
	if len(r.partner.Ledger().Entries(faults.Query{Limit: 1})) > 0 {
		ctx, cancel := context.WithTimeout(ctx, settleLimit)
		r.partner.Ledger().Wait(ctx, faults.Query{})
		cancel()
	}
	if r.Hops == 0 {
		wait(ctx, time.Duration(r.SettleMS)*time.Millisecond)
	}
}

// wait waits for d or until ctx is done.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
