package budgetcaller

import (
	"net/http"
	"time"
)

// RoundTripper returns the Caller as the transport of an http.Client, for code
// that has one already. The budget is the request's context's deadline, or the
// client's Timeout, which net/http turns into one; without either a call fails
// with ErrNoBudget. The error of a call is an *Error inside the client's
// *url.Error, and errors.Is and errors.As see through that; but where the
// client's own Timeout has passed, the client puts an error of its own in the
// place of ours. A budget begun with Begin has no such rival.
//
// The whole body is read before RoundTrip returns, so that a call that is cut
// inside it can be repeated: nothing is streamed, and a body over
// Config.MaxBodyBytes is an error. Compressed bodies stay as they are sent, and
// a response's TLS field is nil.
//
// The client follows redirects by itself, each as a call of its own within the
// same budget; Config.Redirects does not count here.
func (c *Caller) RoundTripper() http.RoundTripper { return roundTripper{c} }

type roundTripper struct{ c *Caller }

// CloseIdleConnections is what http.Client's method of that name asks for.
func (r roundTripper) CloseIdleConnections() { r.c.pool.closeIdle(time.Now()) }

// RoundTrip makes the call.
func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := r.c.do(req.Context(), req, 0)
	if err != nil {
		return nil, err
	}
	return answer.response(req), nil
}
