package postgres

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// lines are the store's open connections: a server that does not answer must not
// hold up Close.
type lines struct {
	mu     sync.Mutex
	open   map[*line]bool
	closed bool
}

// line is one of them.
type line struct {
	net.Conn
	all *lines
}

// newLines makes c dial through it.
func newLines(c *pgx.ConnConfig) *lines {
	l := &lines{open: map[*line]bool{}}
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return l.add(conn)
	}
	return l
}

func (l *lines) add(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	n := &line{conn, l}
	l.open[n] = true
	return n, nil
}

// Close implements net.Conn.
func (n *line) Close() error {
	n.all.mu.Lock()
	delete(n.all.open, n)
	n.all.mu.Unlock()
	return n.Conn.Close()
}

// cut closes what is open, and lets nothing be opened any more.
func (l *lines) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for n := range l.open {
		_ = n.Conn.Close()
	}
}

// closeWait is how long the server has to say goodbye.
const closeWait = time.Second

// Close releases the connections. No method may be under way.
func (s *Store) Close() error {
	s.end()
	t := time.AfterFunc(closeWait, s.lines.cut)
	defer t.Stop()
	s.pool.Close()
	return nil
}
