package faults

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAnything: clients that do anything at all, against every fault at once and
// while faults change, leave nothing behind: no connection, nothing that hangs,
// no entry without an end.
func TestAnything(t *testing.T) {
	t.Parallel()
	var cfg Config
	for _, f := range All() {
		if f.Supported() != nil {
			continue
		}
		text := f.Name
		for _, p := range f.Params {
			switch {
			case p.Name == "delay" || p.Name == "every":
				text += sep(text) + p.Name + "=1ms"
			case p.Name == "hold":
				text += sep(text) + "hold=500ms"
			}
		}
		cfg.Listeners = append(cfg.Listeners, ListenerConfig{Faults: []Spec{spec(t, text)}})
	}
	cfg.IdleTimeout, cfg.ReadTimeout = time.Second, time.Second
	p, _ := startWith(t, cfg)
	listeners := p.Listeners()
	const seed = 1
	var wg sync.WaitGroup
	until := time.Now().Add(2 * time.Second)
	for n := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, n))
			for time.Now().Before(until) {
				l := listeners[r.IntN(len(listeners))]
				doAnything(r, l.Addresses[0].String())
				if r.IntN(20) == 0 {
					other := cfg.Listeners[r.IntN(len(cfg.Listeners))].Faults
					if err := p.Set(l.Name, other, time.Duration(r.IntN(2))*50*time.Millisecond); err != nil {
						t.Errorf("Set(%s, %v): %v", l.Name, other, err)
					}
				}
			}
		})
	}
	wg.Wait()
	waitFor(t, "everything has ended", func() bool {
		for _, s := range p.Stats() {
			if s.Open != 0 || s.Hung != 0 {
				return false
			}
		}
		return true
	})
	entries := p.Ledger().Entries(Query{})
	if len(entries) < 100 {
		t.Errorf("only %d entries: the clients did not do much", len(entries))
	}
	for _, e := range entries {
		if !e.Ended() || e.How == "" || e.Elapsed < 0 || e.Delay < e.Asked && e.How == "answered" {
			t.Errorf("entry: got %+v", e)
		}
	}
}

func sep(text string) string {
	if strings.Contains(text, ":") {
		return ","
	}
	return ":"
}

// doAnything is one client.
func doAnything(r *rand.Rand, addr string) {
	nc, err := net.DialTimeout("tcp", addr, 20*time.Millisecond)
	if err != nil {
		return
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(time.Duration(r.IntN(200)) * time.Millisecond))
	body := strings.Repeat("b", r.IntN(100_000))
	requests := []string{
		get, get + get + get, "", "GET / HT", "\x16\x03\x01\x00", "HEAD / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
		fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nIdempotency-Key: %d\r\nContent-Length: %d\r\n\r\n%s", r.IntN(5), len(body), body),
		fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body)+1, body),
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + get,
		"GET /?fault=slow:delay=1ms HTTP/1.1\r\nHost: h\r\n\r\n", "GET /?fault=nonsense HTTP/1.1\r\nHost: h\r\n\r\n",
	}
	for range 1 + r.IntN(3) {
		if _, err := nc.Write([]byte(requests[r.IntN(len(requests))])); err != nil {
			return
		}
		if r.IntN(2) == 0 {
			_, _ = nc.Read(make([]byte, 1+r.IntN(4096)))
		}
	}
	switch r.IntN(4) {
	case 0:
		_ = nc.(*net.TCPConn).SetLinger(0)
	case 1:
		_ = nc.(*net.TCPConn).CloseWrite()
		_, _ = nc.Read(make([]byte, 4096))
	}
}
