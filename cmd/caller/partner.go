package main

import (
	"context"
	"net/netip"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// What the partner saw of a call.
const (
	sawRequest    = "request"    // a whole request
	sawConnection = "connection" // a connection, but no whole request
	sawNothing    = "nothing"    // never noticed us
	sawUnknown    = "unknown"    // it cannot be told
)

// partnerView is the partner's own account of a call, the last attempt of it.
// All but Saw is left out where the partner did not see that much.
type partnerView struct {
	Saw        string      `json:"saw"`
	Listener   string      `json:"listener,omitempty"`
	Elapsed    *cli.Millis `json:"elapsed_ms,omitempty"`    // from the accept, or from the request's first byte if the connection was reused
	EndedBy    string      `json:"ended_by,omitempty"`      // client or partner
	How        string      `json:"how,omitempty"`           // answered, closed, reset …
	Difference *cli.Millis `json:"difference_ms,omitempty"` // our elapsed time less the partner's
	Effect     *bool       `json:"effect,omitempty"`        // whether the work was done
	Asked      *cli.Millis `json:"asked_ms,omitempty"`      // the delay it was told to make
	Delivered  *cli.Millis `json:"delivered_ms,omitempty"`  // the one it made
}

// entry is what we need of one line of the partner's ledger.
type entry struct {
	kind             string // request or connection
	listener         string
	elapsed          time.Duration
	endedBy, how     string
	effect           bool
	asked, delivered time.Duration
}

// ledger is a partner's own account of what happened to it.
type ledger interface {
	// listeners returns what the partner listens on, in its own order.
	listeners(ctx context.Context) ([]target, error)
	// find returns the entry of request nth on the connection from local that
	// was not over before since, or nil if there is none. It waits a bounded
	// time for the entry to end.
	find(ctx context.Context, local netip.AddrPort, nth int, since time.Time) (*entry, error)
}

// view returns the partner's account of the attempt that last records.
func view(ctx context.Context, l ledger, last budgetcaller.Record) (*partnerView, error) {
	if !last.Local.IsValid() {
		// Nothing that was never connected can be looked up, nor need be: only
		// a connection that failed as it was made leaves a doubt.
		if last.Class == budgetcaller.ClassReset || last.Class == budgetcaller.ClassClosed {
			return &partnerView{Saw: sawUnknown}, nil
		}
		return &partnerView{Saw: sawNothing}, nil
	}
	e, err := l.find(ctx, last.Local, last.Nth, last.Start)
	switch {
	case err != nil:
		return &partnerView{Saw: sawUnknown}, err
	case e == nil:
		return &partnerView{Saw: sawNothing}, nil
	}
	return e.view(last.Elapsed), nil
}

// view returns e beside an attempt that took elapsed by our clock.
func (e *entry) view(elapsed time.Duration) *partnerView {
	theirs, difference := cli.Millis(e.elapsed), cli.Millis(elapsed-e.elapsed)
	v := &partnerView{
		Saw:        e.kind,
		Listener:   e.listener,
		Elapsed:    &theirs,
		EndedBy:    e.endedBy,
		How:        e.how,
		Difference: &difference,
	}
	if e.kind == sawRequest {
		v.Effect = &e.effect
	}
	if e.asked > 0 {
		asked, delivered := cli.Millis(e.asked), cli.Millis(e.delivered)
		v.Asked, v.Delivered = &asked, &delivered
	}
	return v
}

// belongs returns the listener of the partner that a call to t reaches, if it
// is one of its own.
func belongs(t target, listeners []target) (target, bool) {
	for _, l := range listeners {
		if port(l.url) != port(t.url) {
			continue
		}
		if l.url.Hostname() == t.url.Hostname() || loopback(l.url) && loopback(t.url) {
			return l, true
		}
	}
	return target{}, false
}
