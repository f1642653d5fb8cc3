package backoff

import (
	"fmt"
	"time"
)

// Jitter says how much of the window chance may take away. The names are those
// of the AWS Architecture Blog's "Exponential Backoff And Jitter".
type Jitter uint8

// The kinds of jitter.
const (
	// Full waits anything from nothing to the window. It is the default: it
	// spreads callers that failed together furthest apart.
	Full Jitter = iota
	// Equal waits at least half the window.
	Equal
	// None waits the whole window, so that callers which failed together come
	// back together.
	None
)

// String returns "full", "equal" or "none".
func (j Jitter) String() string {
	switch j {
	case Full:
		return "full"
	case Equal:
		return "equal"
	case None:
		return "none"
	}
	return fmt.Sprintf("jitter(%d)", uint8(j))
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (j Jitter) MarshalText() ([]byte, error) { return []byte(j.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (j *Jitter) UnmarshalText(text []byte) error {
	for k := Full; k <= None; k++ {
		if k.String() == string(text) {
			*j = k
			return nil
		}
	}
	return fmt.Errorf("backoff: unknown jitter %q: one of full, equal, none", text)
}

// The defaults of Config.
const (
	DefaultBase = 100 * time.Millisecond
	DefaultCap  = time.Second
)

// Config sets up a Policy. Each zero field has the default named beside it.
type Config struct {
	// Base is the window of the first wait, in whole milliseconds. Zero:
	// DefaultBase.
	Base time.Duration
	// Cap is what the window never exceeds, in whole milliseconds and not below
	// Base. Zero: DefaultCap, or Base where that is longer.
	Cap time.Duration
	// Jitter is the kind of jitter. Zero: Full.
	Jitter Jitter
}

// Policy is a checked Config. It does not change and may be shared. The zero
// Policy is that of the zero Config.
type Policy struct{ cfg Config }

// New returns the policy of cfg, or an error that names the field out of range.
func New(cfg Config) (Policy, error) {
	if cfg.Base == 0 {
		cfg.Base = DefaultBase
	}
	if cfg.Cap == 0 {
		cfg.Cap = max(DefaultCap, cfg.Base)
	}
	if err := check("Base", cfg.Base); err != nil {
		return Policy{}, err
	}
	if err := check("Cap", cfg.Cap); err != nil {
		return Policy{}, err
	}
	switch {
	case cfg.Cap < cfg.Base:
		return Policy{}, fmt.Errorf("backoff: Cap: %v is below Base, %v", cfg.Cap, cfg.Base)
	case cfg.Jitter > None:
		return Policy{}, fmt.Errorf("backoff: Jitter: %v: one of full, equal, none", cfg.Jitter)
	}
	return Policy{cfg}, nil
}

// Config returns what the policy was made of, defaults filled in.
func (p Policy) Config() Config {
	if p.cfg.Base == 0 {
		p.cfg.Base, p.cfg.Cap = DefaultBase, DefaultCap
	}
	return p.cfg
}

// Window returns the longest that Delay may wait after attempt, from 1. What is
// below 1 counts as 1.
func (p Policy) Window(attempt int) time.Duration {
	cfg := p.Config()
	return window(cfg.Base, cfg.Cap, attempt)
}

// Delay returns how long to wait after attempt, from 1, in whole milliseconds.
// It takes exactly one draw from chance, whatever the kind of jitter, so that
// changing the kind does not shift the draws of later attempts. A nil chance
// waits the whole window.
func (p Policy) Delay(attempt int, chance *Chance) time.Duration {
	w := p.Window(attempt)
	if chance == nil {
		return w
	}
	draw := chance.Float64()
	switch p.cfg.Jitter {
	case Equal:
		draw = 0.5 + draw/2
	case None:
		return w
	}
	return scale(w, draw)
}
