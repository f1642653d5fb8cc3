package chainhop

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"chaoslab/faults"
)

// CircleError says that hops of one partner call each other in a circle.
type CircleError struct {
	Listener, Fault int // one link of the circle: indices of the listener and of its fault
	way             []string
}

// Error implements error.
func (e *CircleError) Error() string {
	if len(e.way) == 1 {
		return fmt.Sprintf("chain: %s calls itself: its next= leads back to it", e.way[0])
	}
	return fmt.Sprintf("chain: it calls itself in a circle: %s, and %s again: look at next=", strings.Join(e.way, ", "), e.way[0])
}

// CheckCircle returns a CircleError if the next hops that the listeners of one
// partner name lead round in a circle, for its start and for faults.Config.Check.
// It knows what is written: a port that is only chosen at start, and the hops of
// another partner, show with the first request, which is refused then.
func CheckCircle(listeners []faults.ListenerConfig) error {
	w := walk{listeners: listeners, state: make([]visit, len(listeners))}
	for i := range listeners {
		if err := w.from(i); err != nil {
			return err
		}
	}
	return nil
}

// visit is how far a listener has been looked at.
type visit uint8

const (
	unseen visit = iota
	onTheWay
	done
)

// walk goes along the links, every one once.
type walk struct {
	listeners []faults.ListenerConfig
	state     []visit
	way       []link
}

// link is a fault that leads on to another listener.
type link struct{ listener, fault int }

func (w *walk) from(i int) error {
	w.state[i] = onTheWay
	for n, s := range w.listeners[i].Faults {
		next := nextOf(s)
		if next == nil {
			continue
		}
		w.way = append(w.way, link{i, n})
		for to := range w.listeners {
			if !listensAt(w.listeners[to].Listen, next) || w.state[to] == done {
				continue
			}
			if w.state[to] == onTheWay {
				return w.circle(to)
			}
			if err := w.from(to); err != nil {
				return err
			}
		}
		w.way = w.way[:len(w.way)-1]
	}
	w.state[i] = done
	return nil
}

// circle is the error of a way that comes back to listener to.
func (w *walk) circle(to int) error {
	way := w.way[slices.IndexFunc(w.way, func(l link) bool { return l.listener == to }):]
	e := &CircleError{Listener: way[0].listener, Fault: way[0].fault}
	for _, l := range way {
		at := w.listeners[l.listener]
		e.way = append(e.way, cmp.Or(at.Name, at.Listen))
	}
	return e
}

// nextOf returns what s calls in any case, nil if that is nothing.
func nextOf(s faults.Spec) *url.URL {
	args := s.Args()
	text := args.Text("next")
	if s.Name() != faultName || text == none {
		return nil
	}
	next, err := parseNext(text)
	if skip := args.Text("skip"); err != nil || skip != none && strings.HasPrefix(next.Path, skip) {
		return nil
	}
	return next
}

// listensAt says whether who listens at the address gets what is sent to next.
func listensAt(listen string, next *url.URL) bool {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" || port != cmp.Or(next.Port(), "80") {
		return false
	}
	called := loopbacks(next.Hostname())
	own, err := netip.ParseAddr(host)
	if err == nil && own.IsUnspecified() {
		return slices.ContainsFunc(called, func(a netip.Addr) bool { return own.Is6() || a.Is4() })
	}
	return slices.ContainsFunc(loopbacks(host), func(a netip.Addr) bool { return slices.Contains(called, a) })
}

// loopbacks returns the addresses that a host stands for.
func loopbacks(host string) []netip.Addr {
	if host == "localhost" {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return []netip.Addr{a.Unmap()}
}
