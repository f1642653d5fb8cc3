package screen

import (
	"context"
	"errors"
	"go/build"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/internal/stall"
)

const ms = time.Millisecond

// slack is how much later than exact a thing may be on a machine that is busy
// with other tests but does not stall.
const slack = 400 * ms

// spoils is how long a stall must be to change what comes of a screen, and not only
// when: then it is run again. It is less than Grace.
const spoils = 50 * ms

// machine tells how long all tests were kept waiting.
var machine = stall.Start()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// TestImports holds what of the project this package rests on: the library and
// its arithmetic, and nothing that a service would not have anyway.
func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"chaoslab/budgetcaller", "chaoslab/budgetcaller/backoff"}
	for _, path := range pkg.Imports {
		if strings.Contains(path, ".") || strings.HasPrefix(path, "chaoslab/") && !slices.Contains(allowed, path) {
			t.Errorf("imports %s, want of the project only %v and nothing outside it", path, allowed)
		}
	}
}

// takes is a part's function that returns value after d, or obeys its context.
func takes(d time.Duration, value any) Func {
	return func(ctx context.Context) (any, error) {
		select {
		case <-time.After(d):
			return value, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// hangs is a part's function that only its context ends.
func hangs(ctx context.Context) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

var errBroken = errors.New("broken")

// breaks is a part's function that fails after d.
func breaks(d time.Duration) Func {
	return func(ctx context.Context) (any, error) {
		_, _ = takes(d, nil)(ctx)
		return nil, errBroken
	}
}

func mustNew(t testing.TB, cfg Config) *Screen {
	t.Helper()
	if cfg.Reserve.D == 0 {
		cfg.Reserve.D = NoReserve
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// steps is a stub network: request n of a host (from 0) takes and returns step n.
type steps map[string][]step

type step struct {
	takes  time.Duration
	status int
}

func (s steps) RoundTrip(req *http.Request) (*http.Response, error) {
	now := s[req.URL.Host][0]
	s[req.URL.Host] = s[req.URL.Host][1:]
	select {
	case <-time.After(now.takes):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: now.status, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// get is a part's function that asks the dependency of that name.
func get(c *budgetcaller.Caller, name string) Func { return getURL(c, name, "http://"+name+"/") }

func getURL(c *budgetcaller.Caller, name, url string) Func {
	return Through(c, name, func(ctx context.Context) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	})
}

func retry(attempts int, wait time.Duration) budgetcaller.Retry {
	return budgetcaller.Retry{Attempts: attempts, Backoff: backoff.Config{Base: wait, Cap: wait, Jitter: backoff.None}}
}

func newCaller(t testing.TB, cfg budgetcaller.Config) *budgetcaller.Caller {
	t.Helper()
	c, err := budgetcaller.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
