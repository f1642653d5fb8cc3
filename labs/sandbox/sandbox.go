package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"
)

// The range of net.ipv4.tcp_syn_retries (kernel: MAX_TCP_SYNCNT).
const (
	MinSynRetries = 1
	MaxSynRetries = 127
)

// EnvVar is set to the black hole's network in the environment of every command
// that runs in a sandbox.
const EnvVar = "CHAOSLAB_SANDBOX"

// The two ends of the veth pair. Routes lead into the near end.
const (
	nearName = "blackhole0"
	farName  = "blackhole1"
)

// ErrUnavailable is what Command and Available return, wrapped with the reason,
// where the system does not allow a sandbox.
var ErrUnavailable = errors.New("no private network on this system")

// Options configure one sandbox. The zero value is a sandbox with the kernel's
// own defaults.
type Options struct {
	// SynRetries sets net.ipv4.tcp_syn_retries inside: how often an unanswered
	// SYN is sent again before connect fails with ETIMEDOUT. It acts on IPv6
	// too. From MinSynRetries to MaxSynRetries; 0 leaves the kernel's default,
	// which is 6 unless it was built otherwise.
	SynRetries int
}

func (o Options) check() error {
	if o.SynRetries != 0 && (o.SynRetries < MinSynRetries || o.SynRetries > MaxSynRetries) {
		return fmt.Errorf("syn retries %d: from %d to %d", o.SynRetries, MinSynRetries, MaxSynRetries)
	}
	return nil
}

// BlackHole returns the network that leads nowhere inside: 192.0.2.0/24. All
// its 256 addresses are black, the first and the last too.
func BlackHole() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, 0}), 24)
}

// Inside reports whether this process runs in a sandbox: the variable that the
// sandbox sets is there, and so is its interface, which a variable alone that
// was carried outside cannot fake. It reads the environment, as nothing else
// tells a process what was arranged for it.
func Inside() bool {
	if os.Getenv(EnvVar) == "" {
		return false
	}
	_, err := net.InterfaceByName(nearName)
	return err == nil
}

// GiveUp returns after which time the kernel nominally ends a connect in a
// sandbox that gets no answer, with an initial timeout of 1 s (RFC 6298). The
// true figure is some per cent later, as kernel timers are coarse.
func GiveUp(synRetries int) time.Duration { return giveUp(synRetries, linearTimeouts()) }

// giveUp takes linear, net.ipv4.tcp_syn_linear_timeouts: so many retransmissions
// more are made first, without doubling.
func giveUp(synRetries, linear int) time.Duration {
	const (
		initial = time.Second
		longest = 120 * time.Second // TCP_RTO_MAX
	)
	// The kernel gives up at the first retransmission timer that expires once
	// the time which plain doubling would need has passed (tcp_model_timeout).
	var model time.Duration
	for i, rto := 0, initial; i <= synRetries; i++ {
		model += rto
		rto = min(2*rto, longest)
	}
	var at time.Duration
	for sent, rto := 0, initial; at < model && sent <= synRetries+linear; sent++ {
		if sent > linear {
			rto = min(2*rto, longest)
		}
		at += rto
	}
	return at
}
