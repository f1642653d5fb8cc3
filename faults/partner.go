package faults

import (
	"bufio"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Partner is a running partner. It is safe for concurrent use. Close it to
// release its ports.
type Partner struct {
	cfg       Config
	base      time.Time
	modes     []string
	clock     *clock
	parker    parker
	ledger    *Ledger
	listeners []*listener
	dates     atomic.Pointer[dated]

	readers, buffers, exchanges sync.Pool

	stopping  chan struct{}
	closeOnce sync.Once
	closed    chan struct{}
	wg        sync.WaitGroup // accepting and serving goroutines, the sweeper

	changes sync.Mutex // held from Config.Check until what it was asked about is in force

	mu      sync.Mutex
	conns   map[uint64]*conn
	last    uint64 // number of the newest connection
	beyond  int    // connections that their listeners hold beyond their own places
	waiting bool   // Close waits for wg: nothing may be added
}

// Start starts a partner. Its ports are open, refused or silent when it returns;
// an error says which address or fault cannot be had, and then none is left
// behind.
func Start(cfg Config) (*Partner, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, &ConfigError{err}
	}
	p := &Partner{
		cfg: cfg, base: time.Now(), modes: cfg.Modes.Names(),
		stopping: make(chan struct{}), closed: make(chan struct{}), conns: map[uint64]*conn{},
	}
	p.readers.New = func() any { return bufio.NewReaderSize(nil, 4<<10) }
	p.buffers.New = func() any { return new([copyBuffer]byte) }
	p.exchanges.New = func() any { return &Exchange{w: waiter{ch: make(chan struct{}, 1)}} }
	p.ledger = newLedger(p.base, cfg.LedgerSize)
	if p.clock, err = newClock(p.base); err != nil {
		return nil, err
	}
	if p.parker, err = newParker(p); err != nil {
		p.clock.stop()
		return nil, err
	}
	seen := map[string]bool{}
	for i, lc := range cfg.Listeners {
		l, err := p.newListener(lc)
		if err == nil && seen[l.name] {
			err = &ConfigError{fmt.Errorf("listener %s: the name is given twice", l.name)}
		}
		if l != nil {
			p.listeners = append(p.listeners, l)
		}
		if err == nil {
			seen[l.name] = true
			err = l.applyNow()
		}
		if err != nil {
			_ = p.Close(context.Background())
			return nil, &ListenerError{i, err}
		}
	}
	p.spawn(p.sweep)
	return p, nil
}

// Ledger returns the partner's record. It stays readable after Close.
func (p *Partner) Ledger() *Ledger { return p.ledger }

// Modes returns what there is to choose from.
func (p *Partner) Modes() Modes { return p.cfg.Modes }

// Seed returns the seed of Config.
func (p *Partner) Seed() uint64 { return p.cfg.Seed }

// Close stops the partner: ports are closed, what hangs or waits is ended with
// a RST or FIN, and everything is waited for, until ctx is done. Only the first
// call does anything; all return when it is done.
func (p *Partner) Close(ctx context.Context) error {
	p.closeOnce.Do(func() {
		close(p.stopping)
		for _, l := range p.listeners {
			l.close()
		}
		go p.shutDown()
	})
	select {
	case <-p.closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("partner: close: connections are still open: %w", ctx.Err())
	}
}

// shutDown ends all connections and then what they rest on.
func (p *Partner) shutDown() {
	defer close(p.closed)
	for _, c := range p.all(nil) {
		c.stop()
	}
	p.mu.Lock()
	p.waiting = true
	p.mu.Unlock()
	p.wg.Wait()
	// What was parked while it was being stopped.
	for _, c := range p.all(nil) {
		c.stop()
		c.close(stopped, false)
	}
	p.parker.stop()
	p.clock.stop()
	for _, l := range p.listeners {
		l.plan.Load().release()
	}
}

// stop ends a connection because the partner is shutting down. One that a
// goroutine serves is only woken: it ends it.
func (c *conn) stop() {
	c.mu.Lock()
	held, parked, lingering := c.held, c.watch != watchNone && c.current == nil, c.lingering
	c.held = nil
	if !parked {
		_ = c.tcp.SetDeadline(time.Unix(1, 0))
	}
	c.mu.Unlock()
	switch {
	case held != nil:
		c.endHeld(held, stopped, false)
	case parked && lingering:
		c.close(closed, false)
	case parked:
		c.close(stopped, false)
	}
}

func (p *Partner) isStopping() bool {
	select {
	case <-p.stopping:
		return true
	default:
		return false
	}
}

// spawn runs f in a goroutine that Close waits for, unless Close already does.
func (p *Partner) spawn(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.waiting {
		p.wg.Go(f)
	}
}

// conn returns the connection of that number, or nil if it is over.
func (p *Partner) conn(id uint64) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns[id]
}

// all appends all open connections to buf.
func (p *Partner) all(buf []*conn) []*conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		buf = append(buf, c)
	}
	return buf
}

func (p *Partner) unixMS(ns int64) float64 {
	return float64(p.base.Add(time.Duration(ns)).UnixMicro()) / 1000
}
