package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"chaoslab/internal/skip"
)

// Shared is one server for all tests of a package, started by the first that
// asks for it.
type Shared struct {
	once   sync.Once
	server *Server
	err    error
}

// URL returns the address of the server's database. Where there is no PostgreSQL
// the test is skipped with the reason, but in CI (CI=true) it fails.
func (s *Shared) URL(t testing.TB) string {
	t.Helper()
	s.once.Do(func() { s.server, s.err = Start(context.Background()) })
	if errors.Is(s.err, ErrMissing) {
		skip.Missing(t, s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server.URL
}

// Stop ends the server if one was started. TestMain calls it after m.Run.
func (s *Shared) Stop() {
	if s.server == nil {
		return
	}
	if err := s.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
