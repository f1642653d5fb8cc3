package deadline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrOver is returned by Begin for a request whose deadline is already over.
var ErrOver = errors.New("deadline already over")

// The values in force where Config has none.
const (
	DefaultCap  = 30 * time.Second
	DefaultSkew = time.Second
)

// Config says how deadlines are adopted. Every zero field has the default named
// beside it. The hooks are called from the goroutine of the request they tell
// of, several at once for several requests, and must not block.
type Config struct {
	// Cap is the most that any request may take, whatever it asks for, and what
	// it may take if it asks for nothing. Zero: DefaultCap. At most MaxCap.
	Cap time.Duration
	// Skew is how far the absolute value may lie from the relative one and
	// still be believed (see Adopt): how well the clocks of both sides agree,
	// with the longest wait on the way that is to count. Zero: DefaultSkew. At
	// most MaxCap.
	Skew time.Duration

	// Arrived returns when the head of a request arrived, for whoever knows it
	// better than Middleware does. What is later than now, or zero, is taken as
	// now. Nil: the moment at which Middleware's handler is called. Begin is
	// told the moment and does not ask.
	Arrived func(*http.Request) time.Time

	// OnOver, if set, is called for each request that is answered with 504 and
	// not passed on, before the answer is written. Begin does not call it.
	OnOver func(*http.Request, Verdict)
	// OnOrphaned, if set, is called when a handler has ended after its caller
	// had gone or after the deadline. Begin does not call it.
	OnOrphaned func(Orphaned)
}

// withDefaults returns c with its zero fields filled in, or an error that names
// the first field out of range.
func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{
		{"Cap", &c.Cap, DefaultCap},
		{"Skew", &c.Skew, DefaultSkew},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < 0 || *f.value > MaxCap {
			return c, fmt.Errorf("deadline: %s: %v is out of range: above 0 and at most %v, or 0 for %v", f.name, *f.value, MaxCap, f.zero)
		}
	}
	return c, nil
}

// Begin adopts the deadline of a request of any protocol: it returns a copy of
// ctx whose deadline is what Adopt makes of v. An earlier deadline of ctx stays
// in force. The cancel function must be called when the request has been
// served, as with context.WithDeadline.
//
// The error is ErrOver if the deadline is over by now, time spent since arrived
// included: nothing is then to be passed on, and there is no context and no
// cancel function. Any other error names the setting of cfg that is out of
// range.
func Begin(ctx context.Context, v Values, arrived time.Time, cfg Config) (context.Context, context.CancelFunc, Verdict, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, nil, Verdict{}, err
	}
	return begin(ctx, v, arrived, &cfg)
}

// begin is Begin with a Config that has its defaults.
func begin(ctx context.Context, v Values, arrived time.Time, cfg *Config) (context.Context, context.CancelFunc, Verdict, error) {
	until, verdict := v.adopt(arrived, cfg.Cap, cfg.Skew)
	if verdict.Over {
		return nil, nil, verdict, ErrOver
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	// A deadline that has passed while the request waited here ends the context
	// at once.
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		cancel()
		verdict.Over = true
		return nil, nil, verdict, ErrOver
	}
	return ctx, cancel, verdict, nil
}
