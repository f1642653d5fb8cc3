package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// memory measures what ten thousand requests that hang cost.
func (b *bench) memory() error {
	const n = 10_000
	b.row("server", "as it comes", "all connect first, then send", "closing all and seeing them gone")
	for _, s := range []struct{ name, mode, path string }{
		{"partner", "read-timeout", "/"},
		{"partner", "silent", "/"},
		{"partner", "read-timeout --tls", "/"},
		{"nethttp", "", "/hang"},
		{"httpbin", "", "/delay/600"},
		{"toxiproxy-hang", "", "/"},
	} {
		mode, withTLS := strings.CutSuffix(s.mode, " --tls")
		var args []string
		if withTLS {
			args = []string{"--tls"}
		}
		var kb []float64
		left := "-"
		for _, connectFirst := range []bool{false, true} {
			p, err := b.server(s.name, mode, args...)
			if err != nil {
				return err
			}
			each, gone, err := b.hang(p, n, s.path, connectFirst, withTLS)
			p.stop()
			if err != nil {
				return fmt.Errorf("%s %s: %w", s.name, s.mode, err)
			}
			kb = append(kb, each)
			if gone > 0 {
				left = gone.Round(time.Millisecond).String()
			}
		}
		b.row(strings.TrimSpace(s.name+" "+s.mode), kb[0], kb[1], left)
	}
	return nil
}

// hang opens n connections with a request each, and returns the memory that the
// server has taken for each. A partner is also asked how long after they have
// all been closed it has noticed, the closing itself included.
func (b *bench) hang(p *process, n int, path string, connectFirst, withTLS bool) (each float64, gone time.Duration, err error) {
	idle, err := p.settled(b.ctx)
	if err != nil {
		return 0, 0, err
	}
	conns := make([]net.Conn, n)
	defer func() {
		for _, nc := range conns {
			if nc != nil {
				nc.Close()
			}
		}
	}()
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n")
	err = inParallel(n, func(i int) error {
		nc, err := net.Dial("tcp", p.addr())
		if err != nil {
			return err
		}
		conns[i] = nc
		if withTLS {
			conns[i] = tls.Client(nc, &tls.Config{InsecureSkipVerify: true}) // only memory is looked at
		}
		if !connectFirst {
			_, err = conns[i].Write(request)
		}
		return err
	})
	if err == nil && connectFirst {
		err = inParallel(n, func(i int) error {
			_, err := conns[i].Write(request)
			return err
		})
	}
	if err != nil {
		return 0, 0, err
	}
	if p.admin != nil {
		if err := b.hung(p, n); err != nil {
			return 0, 0, err
		}
	}
	full, err := p.settled(b.ctx)
	if err != nil || p.admin == nil {
		return (full - idle) / float64(n), 0, err
	}
	began := time.Now()
	for _, nc := range conns {
		nc.Close()
	}
	err = b.hung(p, 0)
	return (full - idle) / float64(n), time.Since(began), err
}

func inParallel(n int, f func(i int) error) error {
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += len(errs) {
				errs[w] = f(i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// hung waits until the partner says that so many hang.
func (b *bench) hung(p *process, n int) error {
	for range 2000 {
		listeners, err := p.admin.Listeners(b.ctx)
		if err != nil {
			return err
		}
		if listeners[0].Hung == int64(n) {
			return nil
		}
		b.pause(5 * time.Millisecond)
	}
	return fmt.Errorf("it never came to %d that hang", n)
}
