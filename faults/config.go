package faults

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// Config sets up a Partner. Every zero field has the default named beside it.
type Config struct {
	Listeners []ListenerConfig // at least one
	Modes     Modes            // what there is; Faults must be parsed by it

	// Seed makes the row of outcomes: the same seed gives the same row on the
	// same listener, whatever the concurrency. Zero is a seed like any other.
	Seed uint64
	// AllowRemote allows listening on addresses that are not loopback.
	AllowRemote bool
	// NoPerRequest switches off the choice of a fault by ?fault= and the header
	// X-Partner-Fault.
	NoPerRequest bool

	// LedgerSize is how many entries the ledger holds; the oldest fall out.
	// Zero: 65536 (about 25 MB when full, and 2 kB more for each request whose
	// answer went out in 128 writes or more, as drip's do: 160 MB at most).
	LedgerSize int
	// MaxConns bounds the connections held at once, over all listeners, and with
	// them the requests worked on whose client has left; more are closed as soon as
	// they are accepted. An eighth is kept for single listeners in equal shares, so
	// that one full of connections does not close the others. Zero: 16384.
	MaxConns int
	// MaxBody bounds a request's body in bytes; a longer one is answered with
	// 413. It is counted and thrown away, so it costs time, not memory. Zero:
	// 64 MiB.
	MaxBody int64
	// ReadTimeout bounds the time that a request's head may take from its first
	// byte, and the silence inside its body; then comes 408. Zero: 10 s.
	ReadTimeout time.Duration
	// WriteTimeout is how long the client may take nothing of an answer that is
	// being written: then it is taken to have hung up. What it takes is seen as
	// far as the system shows it: what its application has read where it is on
	// this machine, else what its system has, and elsewhere than on Linux the
	// pieces of 32 KiB in which answers are written. However steadily it takes
	// it, an answer that still is not whole an hour after its first byte is given
	// up too. Zero: 30 s.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection may say nothing between two requests
	// or before the first. Zero: 2 min.
	IdleTimeout time.Duration

	// Check, if set, is asked before other faults are put into force, with all
	// listeners as they would then be and the ports that they have. Its error
	// refuses the change. What a change with a time to live leaves behind when it
	// is over, it is not asked about.
	Check func([]ListenerConfig) error
	// Event, if set, is called with each thing that whoever runs the partner
	// should know. It must not block.
	Event func(Event)
}

// ListenerConfig is one address and what it does to those who call.
type ListenerConfig struct {
	Name string // shown everywhere; empty: the mode's name
	// Listen is HOST:PORT with an IP address, or localhost for 127.0.0.1 and,
	// where there is one, [::1] on the same port. Port 0 picks a free one.
	// Empty: 127.0.0.1:0.
	Listen string
	Faults []Spec // in order: what one does not hit gets the next; in the end ok
	// TLS, if set, is spoken on this listener; it must hold a certificate.
	TLS *tls.Config
}

// Event is something that happened to the partner as a whole.
type Event struct {
	Listener string
	Text     string // one line
}

// ErrNotLoopback is in the error about an address that others can reach, where
// that was not allowed.
var ErrNotLoopback = errors.New("not loopback")

// ListenerError is an error about one listener of Config.
type ListenerError struct {
	Index int // in Config.Listeners
	err   error
}

// Error implements error.
func (e *ListenerError) Error() string { return e.err.Error() }

// Unwrap returns the error without its place.
func (e *ListenerError) Unwrap() error { return e.err }

// ConfigError is an error in what a partner was asked to do, not one that the
// system made.
type ConfigError struct{ err error }

// Error implements error.
func (e *ConfigError) Error() string { return e.err.Error() }

// Unwrap returns the error without its kind.
func (e *ConfigError) Unwrap() error { return e.err }

// Bounds that are not worth a setting.
const (
	maxHead     = 64 << 10        // bytes of a request's head; 431 beyond
	maxSaved    = 64 << 10        // bytes of later requests kept while one is answered
	lingerTime  = 2 * time.Second // how long a connection is drained after our FIN
	maxBodyTime = 5 * time.Minute // a whole request body
	maxKey      = 255             // bytes of an Idempotency-Key; 400 beyond
	maxKeys     = 10_000          // keys remembered per listener
)

func (c Config) withDefaults() (Config, error) {
	if len(c.Listeners) == 0 {
		return c, errors.New("no listener given")
	}
	for _, f := range []struct {
		name  string
		value *int64
		zero  int64
	}{
		{"MaxBody", &c.MaxBody, 64 << 20},
		{"ReadTimeout", (*int64)(&c.ReadTimeout), int64(10 * time.Second)},
		{"WriteTimeout", (*int64)(&c.WriteTimeout), int64(30 * time.Second)},
		{"IdleTimeout", (*int64)(&c.IdleTimeout), int64(2 * time.Minute)},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < 0 {
			return c, fmt.Errorf("%s: %d is negative", f.name, *f.value)
		}
	}
	if c.LedgerSize == 0 {
		c.LedgerSize = 1 << 16
	}
	if c.MaxConns == 0 {
		c.MaxConns = 1 << 14
	}
	if c.LedgerSize < 1 || c.MaxConns < 1 {
		return c, fmt.Errorf("LedgerSize %d, MaxConns %d: both are at least 1", c.LedgerSize, c.MaxConns)
	}
	if c.Event == nil {
		c.Event = func(Event) {}
	}
	return c, nil
}

// addresses returns what a listen address stands for. A second address is
// wanted only where the system has it.
func addresses(listen string, allowRemote bool) ([]netip.AddrPort, error) {
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	host, port, err := splitHostPort(listen)
	if err != nil {
		return nil, err
	}
	if host == "localhost" {
		return []netip.AddrPort{
			netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port),
			netip.AddrPortFrom(netip.IPv6Loopback(), port),
		}, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil, fmt.Errorf("listen address %q: the host is an IP address or localhost", listen)
	}
	if !ip.IsLoopback() && !allowRemote {
		return nil, fmt.Errorf("listen address %q is %w: a partner that misbehaves is kept from the network unless remote clients are allowed in so many words", listen, ErrNotLoopback)
	}
	return []netip.AddrPort{netip.AddrPortFrom(ip, port)}, nil
}

func splitHostPort(listen string) (string, uint16, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("listen address %q: write HOST:PORT, such as 127.0.0.1:8080", listen)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("listen address %q: the port is a number from 0 to 65535", listen)
	}
	return host, uint16(n), nil
}
