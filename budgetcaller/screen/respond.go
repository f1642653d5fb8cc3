package screen

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"chaoslab/budgetcaller"
)

// Respond answers a request with the screen's JSON (see MarshalJSON): status
// 200 if there is an answer, if parts are missing too, else StatusCode's with
// the reason. The error is that of writing, or of values that JSON does not
// have: those of optional parts are left out, and one of a required part is the
// status 500 with that reason.
func (r *Result) Respond(w http.ResponseWriter) error {
	status := r.StatusCode()
	body, without, err := r.answer()
	if err != nil {
		status = http.StatusInternalServerError
		body, _ = json.Marshal(map[string]string{"error": "the answer cannot be written as JSON", "screen": r.Screen})
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, werr := w.Write(body); werr != nil {
		return werr
	}
	return errors.Join(err, without)
}

// StatusCode returns the HTTP status that says what became of the screen: 200;
// 504 where time ran out; 503 where nothing was tried, or nobody waits; 502
// where a partner failed; 500 where a part's own function did.
func (r *Result) StatusCode() int {
	if r.Err == nil {
		return http.StatusOK
	}
	switch r.Err.Class {
	case budgetcaller.ClassConnectTimeout, budgetcaller.ClassTLSTimeout, budgetcaller.ClassRequestTimeout,
		budgetcaller.ClassReadTimeout, budgetcaller.ClassAttemptTimeout, budgetcaller.ClassBudgetExhausted:
		return http.StatusGatewayTimeout
	case budgetcaller.ClassBelowFloor, budgetcaller.ClassBreakerOpen, budgetcaller.ClassPoolTimeout, budgetcaller.ClassCanceled:
		return http.StatusServiceUnavailable
	case budgetcaller.ClassNone:
		return http.StatusInternalServerError
	}
	return http.StatusBadGateway
}
