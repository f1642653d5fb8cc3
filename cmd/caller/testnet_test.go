package main

import (
	"bytes"
	"context"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"chaoslab/budgetcaller"
)

// TestWarningBeforeTestNet asks the two doors of the engine only: nothing is
// sent.
func TestWarningBeforeTestNet(t *testing.T) {
	t.Parallel()
	there := blackHole().String()
	for _, c := range []struct {
		name, url, proxy, address string
		warned                    bool
	}{
		{"loopback", "http://127.0.0.1/", "", "", false},
		{"by its address", "http://" + there + "/", "", "", true},
		{"by a proxy", "http://127.0.0.1/", "http://" + there + ":3128", "", true},
		{"by a name", "http://far.example/", "", there, true},
		{"by a name, as IPv6 writes it", "http://far.example/", "", "::ffff:" + there, true},
		{"another name", "http://near.example/", "", "127.0.0.1", false},
	} {
		var out bytes.Buffer
		cfg := budgetcaller.Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(c.address)}, nil
		}}
		if c.proxy != "" {
			cfg.Proxy = func(*url.URL) (*url.URL, error) { return mustTarget(t, c.proxy).url, nil }
		}
		watch := &testNetWatch{w: &out}
		cfg = watch.guard(cfg)
		for range 2 { // it warns once
			if via, err := cfg.Proxy(mustTarget(t, c.url).url); err != nil || (via != nil) != (c.proxy != "") {
				t.Errorf("%s: proxy %v, error %v; want what was asked for", c.name, via, err)
			}
			if c.address != "" {
				if _, err := cfg.Lookup(context.Background(), "x"); err != nil {
					t.Errorf("%s: lookup: %v", c.name, err)
				}
			}
		}
		want := 0
		if c.warned {
			want = 1
		}
		if got := strings.Count(out.String(), "need not be a black hole"); got != want {
			t.Errorf("%s: %d warnings, want %d: %s", c.name, got, want, out.String())
		}
	}
}
