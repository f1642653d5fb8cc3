package budgetcaller

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Config sets up a Caller. Every zero field has the default named beside it.
type Config struct {
	// Limits are those of Run, of Default and of each dependency that has none
	// of its own.
	Limits Limits
	// Default is how calls to hosts that no dependency names are made. Its
	// breaker and throttle are shared by all of them.
	Default Dependency
	// Dependencies are the partners with settings of their own.
	Dependencies []Dependency
	// Hooks are told what happens.
	Hooks Hooks
	// Seed is where the chance in backoff comes from. Zero: a random seed, so
	// that processes which failed together do not come back together.
	Seed uint64

	// MaxConnsPerHost bounds the connections to one host and port, in use and
	// idle together; more attempts than that wait in phase pool. Zero: 64.
	MaxConnsPerHost int
	// IdleTimeout is how long an unused connection is kept. Zero: 30 s.
	IdleTimeout time.Duration
	// MaxHeadBytes bounds an answer's head, all 1xx before it included; a
	// longer one is malformed. Zero: 1 MiB.
	MaxHeadBytes int64
	// MaxBodyBytes bounds an answer's body in Do, which keeps it in memory; a
	// longer one is malformed. Zero: 16 MiB.
	MaxBodyBytes int64

	// TLS is used for https targets; it is cloned. Nil: the system's roots.
	// The protocol spoken is HTTP/1.1, whatever its NextProtos say.
	TLS *tls.Config
	// Proxy returns the proxy for a target, or nil for none. Nil: no proxy is
	// ever used; the environment is not looked at. The proxy's address is what
	// the connect limit then bounds.
	Proxy func(target *url.URL) (*url.URL, error)
	// Redirects is how many redirects Run and Do follow. Zero: none.
	Redirects int
	// Lookup resolves a host name; it must obey its context. Nil: the Go
	// resolver, which leaves nothing behind when it is cut. IP literals never
	// reach it.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Stub stands in for the network in tests and benchmarks of what is above
	// it: it answers a request as a http.RoundTripper does. Its request's
	// context is cancelled when a limit cuts the attempt. Nil: the network.
	Stub http.RoundTripper
}

// The defaults and the bounds of Config's fields.
const (
	DefaultMaxConnsPerHost       = 64
	DefaultIdleTimeout           = 30 * time.Second
	DefaultMaxHeadBytes    int64 = 1 << 20
	DefaultMaxBodyBytes    int64 = 16 << 20

	maxConnsPerHost       = 1 << 16
	maxHeadBytes    int64 = 64 << 20
	maxBodyBytes    int64 = 1 << 40
	maxRedirects          = 100
)

// Caller makes calls under limits. It is safe for concurrent use. Close it to
// release its idle connections.
type Caller struct {
	other     *dependency // what no dependency names
	byName    map[string]*dependency
	byHost    map[string]*dependency
	hooks     Hooks
	seed      uint64
	calls     atomic.Uint64 // begun by Do: each draws its own chance
	maxHead   int64
	maxBody   int64
	redirects int
	tls       *tls.Config
	proxy     func(*url.URL) (*url.URL, error)
	lookup    func(context.Context, string) ([]netip.Addr, error)
	stub      http.RoundTripper
	pool      pool
	alarms    *alarms
	attempts  sync.Pool // of *attempt, each with its alarm
	buffers   sync.Pool // of *[copyBuffer]byte
}

// New returns a Caller, or an error that names the setting out of range.
func New(cfg Config) (*Caller, error) {
	c := &Caller{proxy: cfg.Proxy, lookup: cfg.Lookup, hooks: cfg.Hooks, seed: cfg.Seed, stub: cfg.Stub}
	if c.seed == 0 {
		c.seed = rand.Uint64()
	}
	if err := c.addDependencies(cfg); err != nil {
		return nil, err
	}
	var err error
	if c.pool.perHost, err = within("MaxConnsPerHost", cfg.MaxConnsPerHost, DefaultMaxConnsPerHost, maxConnsPerHost); err != nil {
		return nil, err
	}
	if c.maxHead, err = within("MaxHeadBytes", cfg.MaxHeadBytes, DefaultMaxHeadBytes, maxHeadBytes); err != nil {
		return nil, err
	}
	if c.maxBody, err = within("MaxBodyBytes", cfg.MaxBodyBytes, DefaultMaxBodyBytes, maxBodyBytes); err != nil {
		return nil, err
	}
	if c.redirects, err = within("Redirects", cfg.Redirects, 0, maxRedirects); err != nil {
		return nil, err
	}
	if c.pool.idleFor, err = within("IdleTimeout", cfg.IdleTimeout, DefaultIdleTimeout, MaxLimit); err != nil {
		return nil, err
	}
	c.tls = &tls.Config{}
	if cfg.TLS != nil {
		c.tls = cfg.TLS.Clone()
	}
	// A connection must carry one attempt at a time, so no HTTP/2.
	c.tls.NextProtos = []string{"http/1.1"}
	if c.lookup == nil {
		resolver := &net.Resolver{PreferGo: true}
		c.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return resolver.LookupNetIP(ctx, "ip", host)
		}
	}
	c.pool.hosts = map[route]*hostPool{}
	c.alarms = newAlarms()
	c.attempts.New = c.newAttempt
	c.buffers.New = func() any { return new([copyBuffer]byte) }
	return c, nil
}

// within returns v, or zero's default, or an error that names the range.
func within[T int | int64 | time.Duration](name string, v, zero, most T) (T, error) {
	if v == 0 {
		return zero, nil
	}
	if v < 0 || v > most {
		return v, fmt.Errorf("%s: %v is out of range: from 0 to %v", name, v, most)
	}
	return v, nil
}

// Close closes all idle connections. Attempts under way go on and close theirs
// when they end. A closed Caller makes no further attempts.
func (c *Caller) Close() {
	c.pool.close()
	c.alarms.close()
}
