package budgetcaller

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/breaker"
	"chaoslab/budgetcaller/throttle"
)

// Dependency is how calls to one partner are made. The zero value makes one
// attempt under the default limits, without breaker or throttle.
type Dependency struct {
	// Name stands in errors, hooks and metrics. It is UTF-8 without control
	// characters.
	// Empty, which only Config.Default may be: the host.
	Name string
	// Hosts are the hosts of URLs that lead to it, with the port where it is not
	// the scheme's own. Upper and lower case are alike. Config.Default has none.
	Hosts []string

	// Limits are those of each attempt; where all are zero, Config.Limits. Where Limits.Floor is zero and Expected
	// is not, Expected is the floor.
	Limits Limits
	// Expected is how long a call usually takes: what must still fit after a
	// wait. Zero: the floor.
	Expected time.Duration
	// Retry says how often and when an attempt is repeated.
	Retry Retry
	// Breaker is the circuit breaker, nil for none.
	Breaker *breaker.Config
	// Throttle caps the share of retries over all calls, nil for no cap.
	Throttle *throttle.Config
	// KeepDeadline leaves out the headers that pass the deadline down, for a
	// partner that must not see them.
	KeepDeadline bool
}

// Retry says how often and when an attempt is repeated. Which failures may be
// is fixed: only what is temporary, and with an unknown effect only what may
// happen twice.
type Retry struct {
	// Attempts is the greatest number of attempts of one call. Zero: 1, so no
	// retry.
	Attempts int
	// Backoff is the wait between two attempts where the partner asks for none
	// with Retry-After.
	Backoff backoff.Config
}

// wrong says which dependency and which of its fields err is about.
func (d Dependency) wrong(field string, err error) error {
	if field != "" {
		err = fmt.Errorf("%s: %w", field, err)
	}
	if d.Name != "" {
		err = fmt.Errorf("dependency %s: %w", d.Name, err)
	}
	return err
}

// maxAttempts bounds Retry.Attempts.
const maxAttempts = 100

// dependency is a Dependency that was checked, with its state.
type dependency struct {
	Dependency
	backoff  backoff.Policy
	breaker  *breaker.Breaker
	throttle *throttle.Throttle
	numbers  []string // of the attempts, as HeaderAttempt has them
}

// newDependency checks d.
func newDependency(d Dependency) (*dependency, error) {
	if d.Expected != 0 {
		if err := checkLimit(d.Expected); err != nil || d.Expected == NoLimit {
			return nil, d.wrong("Expected", fmt.Errorf("%v is out of range: above 0 and at most %v", d.Expected, MaxLimit))
		}
		if d.Limits.Floor == 0 {
			d.Limits.Floor = d.Expected
		}
	}
	var err error
	if d.Limits, err = d.Limits.withDefaults(); err != nil {
		return nil, d.wrong("", err)
	}
	d.Expected = max(d.Expected, d.Limits.Floor)
	if d.Retry.Attempts, err = within("Retry.Attempts", d.Retry.Attempts, 1, maxAttempts); err != nil {
		return nil, d.wrong("", err)
	}
	made := &dependency{Dependency: d}
	for n := range d.Retry.Attempts {
		made.numbers = append(made.numbers, strconv.Itoa(n+1))
	}
	if made.backoff, err = backoff.New(d.Retry.Backoff); err != nil {
		return nil, d.wrong("Retry", err)
	}
	if d.Breaker != nil {
		if made.breaker, err = breaker.New(*d.Breaker); err != nil {
			return nil, d.wrong("", err)
		}
	}
	if d.Throttle != nil {
		if made.throttle, err = throttle.New(*d.Throttle); err != nil {
			return nil, d.wrong("", err)
		}
	}
	return made, nil
}

// addDependencies checks and adds all that cfg names.
func (c *Caller) addDependencies(cfg Config) error {
	_, err := cfg.Limits.withDefaults()
	if err != nil {
		return err
	}
	if err := checkName(cfg.Default.Name); err != nil {
		return fmt.Errorf("default: %w", err)
	}
	if len(cfg.Default.Hosts) > 0 {
		return errors.New("default: Hosts: it is for all hosts that no dependency names")
	}
	if c.other, err = newDependency(cfg.Default.under(cfg.Limits)); err != nil {
		return fmt.Errorf("default: %w", err)
	}
	c.byName, c.byHost = map[string]*dependency{}, map[string]*dependency{}
	for i, d := range cfg.Dependencies {
		if d.Name == "" {
			return fmt.Errorf("dependency %d has no name", i)
		}
		if err := checkName(d.Name); err != nil {
			return fmt.Errorf("dependency %w", err)
		}
		if c.byName[d.Name] != nil {
			return fmt.Errorf("dependency %q is named twice", d.Name)
		}
		made, err := newDependency(d.under(cfg.Limits))
		if err != nil {
			return err
		}
		c.byName[d.Name] = made
		for _, host := range d.Hosts {
			if err := checkHost(host); err != nil {
				return d.wrong("Hosts", err)
			}
			host = strings.ToLower(host)
			if other := c.byHost[host]; other != nil {
				return fmt.Errorf("host %q belongs to both %q and %q", host, other.Name, d.Name)
			}
			c.byHost[host] = made
		}
	}
	return nil
}

// dependencyKey is the key of the name that Calling leaves in a context.
type dependencyKey struct{}

// Calling returns a copy of ctx with which Do uses the settings of the
// dependency of that name, whatever the host of the request.
func Calling(ctx context.Context, name string) context.Context {
	return namedContext{ctx, name}
}

// namedContext is a context that names a dependency. It is a type of its own so
// that a budget under it is still recognised.
type namedContext struct {
	context.Context
	name string
}

// Value implements context.Context.
func (c namedContext) Value(key any) any {
	if key == (dependencyKey{}) {
		return c.name
	}
	return c.Context.Value(key)
}

// plainBudget returns the budget that ctx itself is, nil if ctx can end in
// other ways too.
func plainBudget(ctx context.Context) *budgetContext {
	for {
		switch c := ctx.(type) {
		case *budgetContext:
			return c
		case namedContext:
			ctx = c.Context
		default:
			return nil
		}
	}
}

// dependencyOf returns the settings for a call: those named by Calling, else
// those of the host, else the default ones.
func (c *Caller) dependencyOf(ctx context.Context, u *url.URL) (*dependency, error) {
	if name, ok := ctx.Value(dependencyKey{}).(string); ok {
		if d := c.byName[name]; d != nil {
			return d, nil
		}
		return nil, fmt.Errorf("no dependency is named %q", name)
	}
	if len(c.byHost) == 0 {
		return c.other, nil
	}
	host := strings.ToLower(u.Host)
	if d := c.byHost[host]; d != nil {
		return d, nil
	}
	// The default port may be written or not, on either side.
	usual := ":80"
	if u.Scheme == "https" {
		usual = ":443"
	}
	if u.Port() == "" {
		host += usual
	} else {
		host = strings.TrimSuffix(host, usual)
	}
	if d := c.byHost[host]; d != nil {
		return d, nil
	}
	return c.other, nil
}

// under returns d with limits where it has none of its own.
func (d Dependency) under(limits Limits) Dependency {
	if d.Limits == (Limits{}) {
		d.Limits = limits
	}
	return d
}

// checkName refuses what a line of text or a metric's label cannot hold.
func checkName(name string) error {
	if hasControl(name) {
		return fmt.Errorf("%q: a name has no control characters", name)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("%q: a name is UTF-8", name)
	}
	return nil
}

// checkHost refuses what the host of a URL can never be.
func checkHost(host string) error {
	u, err := url.Parse("http://" + host + "/")
	if err != nil || host == "" || u.Host != host {
		return fmt.Errorf("%q is not the host of a URL: write it as in price.example or 127.0.0.1:8080", host)
	}
	_, _, err = hostPort(u)
	return err
}
