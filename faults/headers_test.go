package faults

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestDeadlineHeaders: the ledger tells a deadline that is already over from none.
func TestDeadlineHeaders(t *testing.T) {
	t.Parallel()
	const timeout, moment = "X-Request-Timeout-Ms: ", "X-Request-Deadline: "
	for _, tc := range []struct {
		name, headers, json string
		timeout, deadline   float64
		sent, alsoSent      bool
	}{
		{name: "none"},
		{name: "some time", headers: timeout + "250\r\n", json: `"timeout_ms":250,"timeout_sent":true,`, timeout: 250, sent: true},
		{name: "none left", headers: timeout + "0\r\n", json: `"timeout_sent":true,`, sent: true},
		{name: "less than none", headers: timeout + "-5\r\n", json: `"timeout_ms":-5,"timeout_sent":true,`, timeout: -5, sent: true},
		{name: "a moment", headers: moment + "1700000000000\r\n", json: `"deadline_ms":1700000000000,"deadline_sent":true,`, deadline: 1700000000000, alsoSent: true},
		{name: "the beginning of time", headers: moment + "0\r\n", json: `"deadline_sent":true,`, alsoSent: true},
		{name: "no number", headers: timeout + "soon\r\n" + moment + "1.5\r\n"},
		{name: "with a plus", headers: timeout + "+5\r\n"},
		{name: "twice", headers: timeout + "5\r\n" + timeout + "5\r\n"},
		{name: "too many digits", headers: timeout + "1234567890123456\r\n"},
	} {
		p, l := start(t, "ok")
		nc := request(t, l, tc.headers)
		statusOn(t, nc)
		e := entryOf(t, p, nc, 1)
		if e.TimeoutMS != tc.timeout || e.TimeoutSent != tc.sent || e.DeadlineMS != tc.deadline || e.DeadlineSent != tc.alsoSent {
			t.Errorf("%s: %q: timeout %v (sent %v), deadline %v (sent %v)", tc.name, tc.headers, e.TimeoutMS, e.TimeoutSent, e.DeadlineMS, e.DeadlineSent)
		}
		line, err := json.Marshal(e)
		if err != nil || !bytes.Contains(line, []byte(tc.json)) || tc.json == "" && (bytes.Contains(line, []byte(`"timeout_`)) || bytes.Contains(line, []byte(`"deadline_`))) {
			t.Errorf("%s: %q: %s, %v, want %q in it", tc.name, tc.headers, line, err, tc.json)
		}
	}
}
