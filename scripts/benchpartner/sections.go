package main

import (
	"sync"
	"sync/atomic"
	"time"

	"chaoslab/faults"
)

// delay measures how late a delay of 100 ms comes.
func (b *bench) delay() error {
	n := 1000
	if b.quick {
		n = 200
	}
	b.row("server", "client p50", "p99", "least", "server p50", "p99")
	for _, s := range []struct{ name, path string }{
		{"partner", "/"}, {"nethttp", "/delay"}, {"httpbin", "/delay/0.1"}, {"toxiproxy-delay", "/"},
	} {
		p, err := b.server(s.name, "slow:delay=100ms")
		if err != nil {
			return err
		}
		var mu sync.Mutex
		var over []time.Duration
		err = each(4, p.addr(), s.path, func(r *raw) error {
			for range n / 4 {
				took, err := r.timed()
				if err != nil {
					return err
				}
				mu.Lock()
				over = append(over, took-100*time.Millisecond)
				mu.Unlock()
			}
			return nil
		})
		var served []time.Duration
		if err == nil && p.admin != nil {
			served, err = b.served(p)
		}
		p.stop()
		if err != nil {
			return err
		}
		if len(served) == 0 {
			b.row(s.name, percentile(over, 50), percentile(over, 99), percentile(over, 0), "-", "-")
			continue
		}
		b.row(s.name, percentile(over, 50), percentile(over, 99), percentile(over, 0), percentile(served, 50), percentile(served, 99))
	}
	return nil
}

// server starts the server of that name, a partner in mode.
func (b *bench) server(name, mode string, args ...string) (*process, error) {
	if name == "partner" {
		return b.partnerIn(mode, args...)
	}
	return b.other(name)
}

// served returns the overshoot of each request by the partner's own ledger.
func (b *bench) served(p *process) ([]time.Duration, error) {
	entries, err := p.admin.Ledger(b.ctx, faults.Query{}, 0)
	var over []time.Duration
	for _, e := range entries {
		if e.Kind == "request" && e.Delay > 0 {
			over = append(over, time.Duration((e.Delay-e.Asked)*1e6))
		}
	}
	return over, err
}

// ok measures the requests per second where nothing is to go wrong.
func (b *bench) ok() error {
	rounds, long := 7, 2*time.Second
	if b.quick {
		rounds, long = 3, time.Second
	}
	names := []string{"partner", "nethttp", "control"}
	rates := map[string][]float64{}
	running := map[string]*process{}
	for _, name := range names {
		server := name
		if name == "control" {
			server = "nethttp"
		}
		p, err := b.server(server, "ok")
		if err != nil {
			return err
		}
		defer p.stop()
		running[name] = p
	}
	for round := range rounds {
		for i := range names {
			name := names[(round+i)%len(names)]
			rate, err := b.rate(running[name].addr(), long)
			if err != nil {
				return err
			}
			rates[name] = append(rates[name], rate)
		}
	}
	base := median(rates["nethttp"])
	b.row("server", "requests/s", "of nethttp")
	for _, name := range names {
		b.row(name, int(median(rates[name])), median(rates[name])/base)
	}
	return nil
}

func (b *bench) rate(addr string, long time.Duration) (float64, error) {
	var count atomic.Int64
	began := time.Now()
	err := each(16, addr, "/", func(r *raw) error {
		n := int64(0)
		for time.Since(began) < long && b.ctx.Err() == nil {
			if err := r.send(); err != nil {
				return err
			}
			if err := r.skip(); err != nil {
				return err
			}
			n++
		}
		count.Add(n)
		return nil
	})
	return float64(count.Load()) / time.Since(began).Seconds(), err
}

// drip measures how regular single bytes come, at the client and by the ledger.
func (b *bench) drip() error {
	b.row("drips at once", "client gap p50", "p99", "by the ledger: off the schedule p50", "p99", "most")
	for _, n := range []int{1, 1000} {
		p, err := b.partnerIn("drip:bytes=100,every=20ms")
		if err != nil {
			return err
		}
		var mu sync.Mutex
		var gaps []time.Duration
		for range 1 + 9/n { // a single drip has too few gaps for a percentile
			if err == nil {
				err = each(n, p.addr(), "/", func(r *raw) error {
					mine, err := r.gaps(100)
					mu.Lock()
					defer mu.Unlock()
					gaps = append(gaps, mine...)
					return err
				})
			}
		}
		var off []time.Duration
		if err == nil {
			off, err = b.offSchedule(p)
		}
		p.stop()
		if err != nil {
			return err
		}
		b.row(n, percentile(gaps, 50), percentile(gaps, 99), percentile(off, 50), percentile(off, 99), percentile(off, 100))
	}
	return nil
}

// gaps reads an answer whose body comes byte by byte.
func (r *raw) gaps(n int) ([]time.Duration, error) {
	if err := r.send(); err != nil {
		return nil, err
	}
	for {
		line, err := r.br.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if len(line) <= 2 {
			break
		}
	}
	var gaps []time.Duration
	var last time.Time
	for i := range n {
		if _, err := r.br.ReadByte(); err != nil {
			return nil, err
		}
		now := time.Now()
		if i > 0 {
			gaps = append(gaps, now.Sub(last))
		}
		last = now
	}
	return gaps, nil
}

// offSchedule returns how late each byte was written, after the first 200 ms.
func (b *bench) offSchedule(p *process) ([]time.Duration, error) {
	entries, err := p.admin.Ledger(b.ctx, faults.Query{}, 0)
	var off []time.Duration
	for _, e := range entries {
		if e.Kind != "request" || len(e.Writes) < 2 {
			continue
		}
		first := e.Writes[1].At // the head is the write before
		for i, w := range e.Writes[1:] {
			if i >= 10 {
				off = append(off, time.Duration((w.At-first-float64(i)*20)*1e6))
			}
		}
	}
	return off, err
}
