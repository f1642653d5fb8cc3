package budgetcaller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// dialStagger is how long one address is tried alone before the next is tried
// beside it (RFC 8305, section 5, "Connection Attempt Delay").
const dialStagger = 250 * time.Millisecond

// maxAddresses bounds how many of a name's addresses are tried.
const maxAddresses = 16

// connect looks up the host and dials it, or fails the attempt.
func (a *attempt) connect() (net.Conn, *Record) {
	host, port, err := a.route.first()
	if err != nil { // routeOf has parsed it before
		return nil, a.finish(ClassLookupFailed, LimitNone, err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	defer cancel()
	if !a.hold(func() { a.cancelDial = cancel }) {
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	a.span.connect = after(a.span.now(), a.limits.Connect)
	a.enter(PhaseLookup)
	a.rearm()
	addrs, err := a.caller.addresses(ctx, host)
	if err != nil {
		return nil, a.finish(ClassLookupFailed, LimitNone, err)
	}
	if !a.enter(PhaseConnect) {
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	conn, err := dialAny(ctx, addrs, uint16(n))
	if err != nil {
		class, limit := dialClass(err)
		return nil, a.finish(class, limit, err)
	}
	return conn, nil
}

// rearm sets the timer to the nearest limit of the phase just entered.
func (a *attempt) rearm() {
	o := a.verdict.load()
	if o.decided() || (o.phase > PhaseRequest && a.span.read == int64(NoLimit)) {
		return // the limits that are left are those the timer was set for
	}
	now := a.span.now()
	silence, look := int64(never), int64(never)
	if o.phase >= PhaseRequest {
		silence = after(now, time.Duration(a.span.read))
		if o.phase == PhaseRequest {
			look = now + int64(minSample)
		}
	}
	at, _ := a.span.nearest(o.phase, silence)
	a.sleep(min(at, look))
	if a.verdict.load().decided() {
		a.alarm.drop(a) // meanwhile, by who has let go of it before
	}
}

// addresses resolves host, an IP literal without asking anyone.
func (c *Caller) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	addrs, err := c.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("lookup %s: no addresses", host)
	}
	return addrs[:min(len(addrs), maxAddresses)], nil
}

// dialAny connects to the first address that answers. All are tried under the
// one limit that ctx stands for: each begins dialStagger after the one before
// it, or at once when all before it have failed. When it returns, nothing goes
// on dialling.
func dialAny(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	dialer := net.Dialer{KeepAlive: -1} // the read limit is what notices a dead partner
	dial := func(ctx context.Context, ip netip.Addr) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(ip, port).String())
	}
	if len(addrs) == 1 {
		return dial(ctx, addrs[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	stagger := time.NewTimer(0)
	defer stagger.Stop()
	var won net.Conn
	var errs []error
	next, running := 0, 0
	for won == nil && (running > 0 || next < len(addrs)) {
		select {
		case <-stagger.C:
			if next == len(addrs) || ctx.Err() != nil {
				next = len(addrs)
				continue
			}
			go func(ip netip.Addr) {
				c, err := dial(ctx, ip)
				results <- result{c, err}
			}(addrs[next])
			next++
			running++
			stagger.Reset(dialStagger)
		case r := <-results:
			running--
			won = r.conn
			if r.err != nil {
				errs = append(errs, r.err)
				if running == 0 {
					stagger.Reset(0)
				}
			}
		}
	}
	cancel()
	for ; running > 0; running-- {
		if r := <-results; r.conn != nil {
			_ = r.conn.Close()
		}
	}
	if won != nil {
		return won, nil
	}
	return nil, worst(errs)
}

// worst picks the error that says most: a partner that said no before one that
// said nothing, and that before a network that knows no way.
func worst(errs []error) error {
	for _, kind := range []func(error) bool{isRefused, isReset, isTimedOut} {
		for _, err := range errs {
			if kind(err) {
				return err
			}
		}
	}
	return errors.Join(errs[:min(1, len(errs))]...)
}

// dialClass is the class of a connect that failed by itself.
func dialClass(err error) (Class, Limit) {
	switch {
	case isRefused(err):
		return ClassRefused, LimitNone
	case isReset(err):
		return ClassReset, LimitNone
	case isTimedOut(err):
		return ClassConnectTimeout, LimitKernel
	}
	return ClassUnreachable, LimitNone
}
