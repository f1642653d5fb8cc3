package budgetcaller

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// userBody is a request's body that a test watches and holds back.
type userBody struct {
	io.Reader
	closed atomic.Int64
}

func (b *userBody) Close() error { b.closed.Add(1); return nil }

// post is a POST of a body of the given length (-1: chunked).
func post(t testing.TB, url string, body io.ReadCloser, length int64) *http.Request {
	req := newRequest(t, http.MethodPost, url, nil)
	req.Body, req.ContentLength = body, length
	return req
}

// stuck is a body that gives some bytes and then nothing until it is closed.
type stuck struct {
	first io.Reader
	gone  chan struct{}
	once  sync.Once
}

func newStuck(first string) *stuck {
	return &stuck{first: strings.NewReader(first), gone: make(chan struct{})}
}

func (s *stuck) Read(p []byte) (int, error) {
	if n, err := s.first.Read(p); err == nil {
		return n, nil
	}
	<-s.gone
	return 0, net.ErrClosed
}

func (s *stuck) Close() error { s.once.Do(func() { close(s.gone) }); return nil }

var errUser = errors.New("the user's own failure")

// failing gives some bytes and then fails.
func failing(first string) io.Reader {
	return io.MultiReader(strings.NewReader(first), readerFunc(func([]byte) (int, error) { return 0, errUser }))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
