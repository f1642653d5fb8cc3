package main

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
)

// What the partner saw of a call.
const (
	sawRequest    = "request"    // a whole request
	sawConnection = "connection" // a connection, but no whole request
	sawNothing    = "nothing"    // never noticed us
	sawUnknown    = "unknown"    // it cannot be told
)

// partnerView is the partner's own account of a call, the last attempt of it.
// What comes after Listener is left out where the partner did not see that much.
type partnerView struct {
	Saw        string      `json:"saw"`
	Listener   string      `json:"listener,omitempty"`       // the one that was called
	Elapsed    *cli.Millis `json:"elapsed_ms,omitempty"`     // from the accept, or from the request's first byte if the connection was reused
	EndedBy    string      `json:"ended_by,omitempty"`       // client or partner
	How        string      `json:"how,omitempty"`            // answered, closed, reset …
	Difference *cli.Millis `json:"difference_ms,omitempty"`  // our elapsed time less the partner's
	Effect     *bool       `json:"effect,omitempty"`         // whether the work was done
	Pending    bool        `json:"effect_pending,omitempty"` // not yet, but it may still be: then there is no Effect
	Asked      *cli.Millis `json:"asked_ms,omitempty"`       // the delay it was told to make
	Delivered  *cli.Millis `json:"delivered_ms,omitempty"`   // the one it made
}

// ledger is a partner's own account of what happened to it.
type ledger interface {
	// listeners returns what the partner listens on, in its own order.
	listeners(ctx context.Context) ([]faults.Listener, error)
	// find returns what the partner has of request nth on its newest connection
	// from local: nothing, or one entry. It waits a bounded time for the entry
	// to end.
	find(ctx context.Context, local netip.AddrPort, nth int) ([]faults.Entry, error)
}

// clockSkew is how far the partner's clock may be from ours.
const clockSkew = time.Second

// view returns the partner's account of the attempt that last records.
func view(ctx context.Context, l ledger, last budgetcaller.Record) (*partnerView, error) {
	if !last.Local.IsValid() {
		// What never was a connection cannot be looked up, nor need be: only one
		// that broke as it was made leaves a doubt.
		if last.Class == budgetcaller.ClassReset || last.Class == budgetcaller.ClassClosed {
			return &partnerView{Saw: sawUnknown}, nil
		}
		return &partnerView{Saw: sawNothing}, nil
	}
	found, err := l.find(ctx, last.Local, last.Nth)
	if err != nil {
		return &partnerView{Saw: sawUnknown}, err
	}
	for _, e := range found {
		// Our port may have been somebody else's before it was ours.
		if ended := time.UnixMicro(int64(e.EndedAt * 1000)); !e.Ended() || ended.After(last.Start.Add(-clockSkew)) {
			return viewOf(e, last.Elapsed), nil
		}
	}
	return &partnerView{Saw: sawNothing}, nil
}

// viewOf returns e beside an attempt that took elapsed by our clock.
func viewOf(e faults.Entry, elapsed time.Duration) *partnerView {
	v := &partnerView{Saw: e.Kind, EndedBy: e.EndedBy, How: e.How}
	if e.Ended() {
		v.Elapsed = fromMS(e.Elapsed)
		difference := cli.Millis(elapsed) - *v.Elapsed
		v.Difference = &difference
	}
	if e.Kind == sawRequest {
		if v.Pending = mayStillAct(e); !v.Pending {
			v.Effect = &e.Effect
		}
	}
	if e.Asked > 0 {
		v.Asked, v.Delivered = fromMS(e.Asked), fromMS(e.Delay)
	}
	return v
}

// mayStillAct says whether the work that e does not show may be done yet: a
// client that leaves does not stop a partner that is at work. Only of a mode
// that never does it, or of one that ended the request itself, is that known.
func mayStillAct(e faults.Entry) bool {
	if e.Effect || e.EndedBy == "partner" {
		return false
	}
	f, err := faults.Lookup(e.Mode)
	return err != nil || f.Effect != "no"
}

func fromMS(ms float64) *cli.Millis {
	m := cli.Millis(ms * float64(time.Millisecond))
	return &m
}

// targetsOf returns the listeners as targets.
func targetsOf(listeners []faults.Listener) ([]target, error) {
	var targets []target
	for _, l := range listeners {
		t, err := parseTarget(l.URL)
		if err != nil {
			return nil, err
		}
		t.name, t.addresses = l.Name, l.Addresses
		targets = append(targets, t)
	}
	return targets, nil
}

// belongs returns the name of the listener that a call to u reaches, if it is
// one of the partner's.
func belongs(u *url.URL, listeners []target) (string, bool) {
	for _, l := range listeners {
		if port(l.url) != port(u) {
			continue
		}
		if l.url.Hostname() == u.Hostname() || l.holds(u) {
			return l.name, true
		}
	}
	return "", false
}

// holds says whether the listener is at the address of u. Another loopback
// address may be somebody else's, and only localhost may mean any of them.
func (t target) holds(u *url.URL) bool {
	addresses := t.addresses
	if addr, err := netip.ParseAddr(t.url.Hostname()); err == nil && len(addresses) == 0 {
		addresses = []netip.AddrPort{netip.AddrPortFrom(addr, 0)}
	}
	at, err := netip.ParseAddr(u.Hostname())
	return slices.ContainsFunc(addresses, func(a netip.AddrPort) bool {
		if err != nil {
			return loopback(u) && a.Addr().Unmap().IsLoopback()
		}
		return a.Addr().Unmap() == at.Unmap()
	})
}
