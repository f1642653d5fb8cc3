package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"sync"

	"chaoslab/budgetcaller"
	"chaoslab/labs/sandbox"
)

// testNetWatch warns once before a call goes to the network that RFC 5737 keeps
// for documents: by its URL, by a name, through a proxy or by a redirect. It is
// safe for concurrent use.
type testNetWatch struct {
	w    io.Writer // nil: never, since it is a black hole for sure here
	once sync.Once
}

func newTestNetWatch(w io.Writer) *testNetWatch {
	if sandbox.Inside() {
		w = nil
	}
	return &testNetWatch{w: w}
}

// see warns if a call to u goes there.
func (t *testNetWatch) see(u *url.URL) {
	if u != nil && inTestNet(u) {
		t.say()
	}
}

func (t *testNetWatch) say() {
	if t.w == nil {
		return
	}
	t.once.Do(func() {
		fmt.Fprintf(t.w, "caller: warning: %s need not be a black hole here: gateways refuse it, or answer, and some machines use it; for a true one: caller sandbox -- caller measure URL\n", sandbox.BlackHole())
	})
}

// guard returns cfg with the watch at its two doors: Proxy, which is asked
// before each attempt, redirects included, and Lookup, which knows the addresses.
func (t *testNetWatch) guard(cfg budgetcaller.Config) budgetcaller.Config {
	proxy, lookup := cfg.Proxy, cfg.Lookup
	cfg.Proxy = func(u *url.URL) (*url.URL, error) {
		t.see(u)
		if proxy == nil {
			return nil, nil
		}
		via, err := proxy(u)
		t.see(via)
		return via, err
	}
	if lookup == nil {
		resolver := &net.Resolver{PreferGo: true}
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return resolver.LookupNetIP(ctx, "ip", host)
		}
	}
	cfg.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
		addrs, err := lookup(ctx, host)
		for _, a := range addrs {
			if sandbox.BlackHole().Contains(a.Unmap()) {
				t.say()
			}
		}
		return addrs, err
	}
	return cfg
}
