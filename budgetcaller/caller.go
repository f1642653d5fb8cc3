package budgetcaller

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Config sets up a Caller. Every zero field has the default named beside it.
type Config struct {
	Limits Limits

	// MaxConnsPerHost bounds the connections to one host and port, in use and
	// idle together; more attempts than that wait in phase pool. Zero: 64.
	MaxConnsPerHost int
	// IdleTimeout is how long an unused connection is kept. Zero: 30 s.
	IdleTimeout time.Duration
	// MaxHeadBytes bounds an answer's head, all 1xx before it included; a
	// longer one is malformed. Zero: 1 MiB.
	MaxHeadBytes int64

	// TLS is used for https targets; it is cloned. Nil: the system's roots.
	// The protocol spoken is HTTP/1.1, whatever its NextProtos say.
	TLS *tls.Config
	// Proxy returns the proxy for a target, or nil for none. Nil: no proxy is
	// ever used; the environment is not looked at.
	Proxy func(target *url.URL) (*url.URL, error)
	// Redirects is how many redirects Run follows. Zero: none.
	Redirects int
	// Lookup resolves a host name; it must obey its context. Nil: the Go
	// resolver. IP literals never reach it.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Result is what Run reports: the account of a whole call.
type Result struct {
	// Attempts holds the account of every request sent or tried, in order: one,
	// and one more for each redirect followed.
	Attempts []Record
	// Elapsed is the time from the start of the first to the end of the last.
	Elapsed time.Duration
}

// Last returns the account of the last attempt, which decided the call.
func (r Result) Last() Record { return r.Attempts[len(r.Attempts)-1] }

// Effect returns the worst effect of all attempts.
func (r Result) Effect() Effect {
	var worst Effect
	for _, a := range r.Attempts {
		worst = max(worst, a.Effect)
	}
	return worst
}

// Run makes the call req under the budget in ctx (see Begin), reads the whole
// body into sink (nil: counts it and throws it away), and returns its account.
// Redirects are followed as Config says, within the same budget. The error is
// never about the network: it says that req cannot be sent at all (no budget,
// no host, a scheme that is not http or https), or that sink failed.
func (c *Caller) Run(ctx context.Context, req *http.Request, sink io.Writer) (Result, error) {
	panic("to be written")
}

// Caller makes calls under limits. It is safe for concurrent use. Close it to
// release its idle connections.
type Caller struct{}

// New returns a Caller, or an error that names the setting out of range.
func New(cfg Config) (*Caller, error) { panic("to be written") }

// Close closes all idle connections. Attempts under way go on and close theirs
// when they end. A closed Caller makes no further attempts.
func (c *Caller) Close() {}
