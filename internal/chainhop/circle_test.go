package chainhop

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"chaoslab/faults"
)

func TestCircleAtStart(t *testing.T) {
	t.Parallel()
	const a, b, c = "127.0.0.1:8081", "127.0.0.1:8082", "127.0.0.1:8083"
	to := func(addr string) string { return "chain:next=http://" + addr + "/" }
	for _, tc := range []struct {
		name      string
		listeners [][]string // the address, then its faults
		at        string     // listener and fault of the error; empty: none
		way       string
	}{
		{"a chain", [][]string{{a, to(b)}, {b, to(c)}, {c, "slow"}}, "", ""},
		{"somewhere else", [][]string{{a, to(b)}}, "", ""},
		{"itself", [][]string{{a, to(a)}}, "0 0", "127.0.0.1:8081 calls itself"},
		{"itself, by name", [][]string{{a, to("localhost:8081")}}, "0 0", "calls itself"},
		{"itself, of localhost", [][]string{{"localhost:8081", to("[::1]:8081")}}, "0 0", "calls itself"},
		{"the other family", [][]string{{a, to("[::1]:8081")}}, "", ""},
		{"itself, of all addresses", [][]string{{"0.0.0.0:8081", to("127.0.0.7:8081")}}, "0 0", "calls itself"},
		{"the other family of all", [][]string{{"0.0.0.0:8081", to("[::1]:8081")}}, "", ""},
		{"all of both families", [][]string{{"[::]:8081", to(a)}}, "0 0", "calls itself"},
		{"the port that none is written for", [][]string{{"127.0.0.1:80", to("127.0.0.1")}}, "0 0", "calls itself"},
		{"a free port", [][]string{{"127.0.0.1:0", "chain:next=http://127.0.0.1:8081/"}}, "", ""},
		{"no address", [][]string{{"", to(a)}}, "", ""},
		{"two", [][]string{{a, to(b)}, {b, to(a)}}, "0 0", "127.0.0.1:8081, 127.0.0.1:8082, and 127.0.0.1:8081 again"},
		{"three, the second enters", [][]string{{a, "ok"}, {b, to(c)}, {c, to(b)}}, "1 0", "127.0.0.1:8082, 127.0.0.1:8083, and 127.0.0.1:8082 again"},
		{"on the way to it", [][]string{{a, to(b)}, {b, to(c)}, {c, to(b)}}, "1 0", "8082, 127.0.0.1:8083, and 127.0.0.1:8082 again"},
		{"not the first of the row", [][]string{{a, "status:when=first=2", "slow:when=first=4", to(a)}}, "0 2", "calls itself"},
		{"one of two ways", [][]string{{a, to(b) + ",when=first=2", to(c)}, {b, "ok"}, {c, to(a)}}, "0 1", "127.0.0.1:8083, and"},
		{"where the next is not needed", [][]string{{a, "chain:next=http://127.0.0.1:8081/health,skip=/health"}}, "", ""},
		{"a path of its own", [][]string{{a, "chain:next=http://127.0.0.1:8081/other,skip=/health"}}, "0 0", "calls itself"},
	} {
		var all []faults.ListenerConfig
		for _, l := range tc.listeners {
			cfg := faults.ListenerConfig{Listen: l[0]}
			for _, text := range l[1:] {
				s, err := modes().Parse(text)
				if err != nil {
					t.Fatalf("%s: %v", tc.name, err)
				}
				cfg.Faults = append(cfg.Faults, s)
			}
			all = append(all, cfg)
		}
		err := CheckCircle(all)
		var circle *CircleError
		switch {
		case tc.at == "" && err != nil, tc.at != "" && !errors.As(err, &circle):
			t.Errorf("%s: CheckCircle(%v) = %v, want one at %q", tc.name, tc.listeners, err, tc.at)
		case err != nil && (fmt.Sprint(circle.Listener, circle.Fault) != tc.at || !strings.Contains(err.Error(), tc.way)):
			t.Errorf("%s: CheckCircle(%v) = %v at %d %d, want %q at %s", tc.name, tc.listeners, err, circle.Listener, circle.Fault, tc.way, tc.at)
		}
	}
}

// A long chain, and one in which every hop leads to all others, are looked at
// once each.
func TestCircleOfManyIsFoundSoon(t *testing.T) {
	t.Parallel()
	const n = 200
	var all []faults.ListenerConfig
	for i := range n {
		cfg := faults.ListenerConfig{Listen: fmt.Sprintf("127.0.0.1:%d", 10_000+i)}
		for to := i + 1; to < min(n, i+faults.MaxFaults); to++ {
			s, err := modes().Parse(fmt.Sprintf("chain:next=http://127.0.0.1:%d,when=every=2", 10_000+to))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Faults = append(cfg.Faults, s)
		}
		all = append(all, cfg)
	}
	if err := CheckCircle(all); err != nil {
		t.Errorf("no circle: got %v", err)
	}
}
