package budgetcaller

import "net/http"

// RoundTripper returns the Caller as the transport of an http.Client, for code
// that has one already. The budget is the request's context's deadline, or the
// client's Timeout, which net/http turns into one; without either a call fails
// with ErrNoBudget. The error of a call is an *Error inside the client's
// *url.Error; errors.Is and errors.As see through it.
//
// The client follows redirects by itself, each as a call of its own within the
// same budget.
func (c *Caller) RoundTripper() http.RoundTripper { return roundTripper{c} }

type roundTripper struct{ c *Caller }

// RoundTrip makes the call.
func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := r.c.Do(req.Context(), req)
	if err != nil {
		return nil, err
	}
	return answer.response(req), nil
}
