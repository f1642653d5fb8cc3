package budgetcaller

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoBudget is returned for a call whose context has no deadline: a call
// without a budget is refused, not given one in silence. Begin gives one.
var ErrNoBudget = errors.New("no budget: the context has no deadline (see Begin)")

// budgetKey is the key of the *budgetContext that Begin leaves in a context, so
// that records can tell how much it was in all.
type budgetKey struct{}

// budgetOf returns the innermost budget begun in ctx, nil if there is none.
func budgetOf(ctx context.Context) *budgetContext {
	b, _ := ctx.Value(budgetKey{}).(*budgetContext)
	return b
}

// Begin returns a copy of ctx with a budget of d from now on for everything
// that is called with it. The budget is the context's deadline and nothing
// else, so an earlier deadline of ctx stays in force and is the budget.
// NoLimit waives the budget in so many words. Anything else that is not above
// zero and at most MaxLimit is an error. The cancel function must be called
// once the work is done, as with context.WithTimeout.
func Begin(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc, error) {
	if err := checkLimit(d); err != nil {
		return nil, nil, fmt.Errorf("budget: %w", err)
	}
	var deadline time.Time
	if d != NoLimit {
		deadline = time.Now().Add(d)
	}
	b := newBudgetContext(ctx, d, deadline)
	b.follow()
	return b, b.cancel, nil
}

// Left returns how much of the budget in ctx is left, never less than zero,
// and whether there is one.
func Left(ctx context.Context) (time.Duration, bool) { return leftAt(ctx, time.Now()) }

func leftAt(ctx context.Context, now time.Time) (time.Duration, bool) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	return max(0, deadline.Sub(now)), true
}

// deadlineOf returns the point in time at which the budget in ctx ends; the
// zero time where it was waived.
func deadlineOf(ctx context.Context) (time.Time, error) {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline, nil
	}
	if budgetOf(ctx) != nil {
		return time.Time{}, nil // waived: any other has a deadline
	}
	return time.Time{}, ErrNoBudget
}
