package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"chaoslab/faults"
)

// Config sets up a Server.
type Config struct {
	Partner *faults.Partner
	Listen  string // HOST:PORT, port 0 picks a free one; empty: 127.0.0.1:0
	// AllowRemote allows an address that is not loopback, and on such a one any
	// Host.
	AllowRemote bool
}

// Server is a running admin port.
type Server struct {
	http   *http.Server
	url    string
	cancel context.CancelFunc // ends streams and waits
	wg     sync.WaitGroup
}

// Start opens the admin port. Close releases it.
func Start(cfg Config) (*Server, error) {
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	if err := CheckListen(cfg.Listen, cfg.AllowRemote); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", cfg.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("admin %s: the port is taken: choose another, or 0 for a free one", cfg.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{url: "http://" + ln.Addr().String(), cancel: cancel}
	s.http = &http.Server{
		Handler:           Handler(cfg.Partner, cfg.AllowRemote && !onLoopback(cfg.Listen)),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	s.wg.Go(func() { _ = s.http.Serve(ln) })
	return s, nil
}

// CheckListen says what is wrong with an address for the admin port, or nil.
func CheckListen(listen string, allowRemote bool) error {
	_, port, err := net.SplitHostPort(listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("admin address %q: write HOST:PORT, such as 127.0.0.1:8079", listen)
	}
	if !onLoopback(listen) && !allowRemote {
		return fmt.Errorf("admin address %q is %w: whoever reaches it can change the partner, so remote clients must be allowed in so many words", listen, faults.ErrNotLoopback)
	}
	return nil
}

// onLoopback says whether the host of listen is loopback.
func onLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && isLoopback(host)
}

// URL returns where the server is: http://127.0.0.1:8079.
func (s *Server) URL() string { return s.url }

// closeTime is how long Close waits for calls under way. One that the handler
// has got is answered at once when streams and waits are over; what takes longer
// was never sent whole.
const closeTime = 200 * time.Millisecond

// Close closes the port, ends streams and waits a moment, at most until ctx is
// done, for what is under way; then it breaks that off.
func (s *Server) Close(ctx context.Context) error {
	s.cancel()
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	s.wg.Wait()
	return err
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
