package referee

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chaoslab/faults"
)

// maxExtra bounds what is added to a scenario's limit.
const maxExtra = 10 * time.Second

// endAtLimit ends the run at the scenario's limit. What a program needs to begin,
// until its first contact with a partner, and what it waits for a core are nobody's
// fault: the limit is longer by that.
func (r *scenarioRun) endAtLimit(ctx context.Context, end context.CancelCauseFunc) {
	given := time.Duration(0)
	for {
		wait(ctx, time.Until(r.start.Add(r.limit+given)))
		extra := min(r.heldUp(), maxExtra)
		if ctx.Err() != nil || extra <= given {
			end(context.DeadlineExceeded)
			return
		}
		given = extra
	}
}

// heldUp is how long the program was held up so far.
func (r *scenarioRun) heldUp() time.Duration {
	begun := r.start
	for _, e := range r.partner.Ledger().Entries(faults.Query{Limit: 1}) {
		begun = r.start.Add(time.Duration((e.AcceptedAt - float64(r.start.UnixMicro())/1000) * float64(time.Millisecond)))
	}
	r.canary.mu.Lock()
	defer r.canary.mu.Unlock()
	return begun.Sub(r.start) + r.canary.starvedIn(begun, time.Now())
}

// tooLate notes that the limit ended the program.
func (r *scenarioRun) tooLate(ctx context.Context) {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		r.find(OwnEnds, fmt.Sprintf("still running after %v", r.limit), "a program that ends by itself", "what it waits for without a limit"+r.lastError())
	}
}

func (r *scenarioRun) lastError() string {
	lines, _ := r.rec.all()
	return (&Seen{Lines: lines}).lastError()
}
