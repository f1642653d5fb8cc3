package main

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"chaoslab/faults"
)

func TestWhatThePartnerMayStillDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		entry   faults.Entry
		pending bool
		words   string
	}{
		{"slow, left", faults.Entry{Mode: "slow", EndedBy: "client"}, true, "may still do it"},
		{"slow, left after the work", faults.Entry{Mode: "slow", EndedBy: "client", Effect: true}, false, "it did the work"},
		{"slow, still at it", faults.Entry{Mode: "slow"}, true, "it is still at it"},
		{"slow, stopped by the partner", faults.Entry{Mode: "slow", EndedBy: "partner"}, false, "it did not do the work"},
		{"read-timeout never does it", faults.Entry{Mode: "read-timeout", EndedBy: "client"}, false, "it did not do the work"},
		{"a mode of another version", faults.Entry{Mode: "nosuch", EndedBy: "client"}, true, "may still do it"},
	} {
		c.entry.Kind = sawRequest
		v := viewOf(c.entry, time.Second)
		if v.Pending != c.pending || (v.Effect == nil) != c.pending || !strings.Contains(v.account(), c.words) {
			t.Errorf("%s: got pending %v, effect %v, %q; want pending %v, %q", c.name, v.Pending, v.Effect, v.account(), c.pending, c.words)
		}
	}
}

func TestWhoseAddressItIs(t *testing.T) {
	t.Parallel()
	both := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:80"), netip.MustParseAddrPort("[::1]:80")}
	for _, c := range []struct {
		listener  string
		addresses []netip.AddrPort
		call      string
		ours      bool
	}{
		{"http://127.0.0.1:80", both[:1], "http://127.0.0.1/x", true},
		{"http://127.0.0.1:80", both[:1], "http://[::ffff:127.0.0.1]:80", true},
		{"http://127.0.0.1:80", both[:1], "http://[::1]:80", false},
		{"http://127.0.0.1:80", both[:1], "http://127.0.0.2:80", false},
		{"http://127.0.0.1:80", both[:1], "http://127.0.0.1:81", false},
		{"http://127.0.0.1:80", both[:1], "http://localhost", true},
		{"http://127.0.0.1:80", both, "http://[::1]", true},
		{"http://127.0.0.1:80", nil, "http://127.0.0.1", true},
		{"http://127.0.0.1:80", nil, "http://[::1]", false},
		{"http://pay.example:80", nil, "http://pay.example", true},
		{"http://pay.example:80", nil, "http://localhost", false},
	} {
		l := mustTarget(t, c.listener)
		l.name, l.addresses = "pay", c.addresses
		if name, got := belongs(mustTarget(t, c.call).url, []target{l}); got != c.ours || (name == "pay") != c.ours {
			t.Errorf("%s at a partner at %s %v: got %q, %v; want %v", c.call, c.listener, c.addresses, name, got, c.ours)
		}
	}
}
