package screen

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"chaoslab/budgetcaller"
)

// Through returns a Func that makes the request that newRequest returns, with
// caller, as the dependency of that name; an empty one leaves it to the
// request's host. newRequest is called once; attempts after the first send the
// same request.
func Through(caller *budgetcaller.Caller, dependency string, newRequest func(context.Context) (*http.Request, error)) Func {
	return func(ctx context.Context) (any, error) {
		if dependency != "" {
			ctx = budgetcaller.Calling(ctx, dependency)
		}
		req, err := newRequest(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := caller.Do(ctx, req)
		if err != nil {
			return nil, err
		}
		return answer, nil
	}
}

// Body returns an answer's body: as JSON if it is JSON, nil if it is empty,
// else as a string, in which bytes that are no UTF-8 are replaced.
func Body(a *budgetcaller.Answer) (any, error) {
	switch {
	case len(a.Body) == 0:
		return nil, nil
	case json.Valid(a.Body):
		return json.RawMessage(a.Body), nil
	case utf8.Valid(a.Body):
		return string(a.Body), nil
	}
	return string([]rune(string(a.Body))), nil
}

// JSON returns an answer's body, which must be JSON.
func JSON(a *budgetcaller.Answer) (any, error) {
	if !json.Valid(a.Body) {
		return nil, errors.New("the body is not JSON")
	}
	return json.RawMessage(a.Body), nil
}

// Decode returns a Read that decodes JSON into a T.
func Decode[T any]() func(*budgetcaller.Answer) (any, error) {
	return func(a *budgetcaller.Answer) (any, error) {
		var v T
		if err := json.Unmarshal(a.Body, &v); err != nil {
			return nil, err
		}
		return v, nil
	}
}
