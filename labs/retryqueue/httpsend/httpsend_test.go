package httpsend

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/labs/retryqueue"
)

func TestEveryClassHasItsVerdict(t *testing.T) {
	t.Parallel()
	table := DefaultTable()
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	want := map[string]Verdict{
		"ok": Done, "status": Unclassified, "tls_failed": Unclassified, "malformed": Unclassified, "canceled": Unclassified,
	}
	for _, c := range budgetcaller.Classes() {
		v, ok := want[c.Class.String()]
		if !ok {
			v = Retry
		}
		if got := table.verdict(budgetcaller.Record{Class: c.Class}); got != v {
			t.Errorf("%v: got %v, want %v", c.Class, got, v)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	own := Table{"status 503": Permanent, "status 5xx": Retry, "status": Done, "refused": Permanent}
	for _, c := range []struct {
		name  string
		table Table
		rec   budgetcaller.Record
		want  Verdict
	}{
		{"200", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassOK, Status: 200}, Done},
		{"a redirect is no acceptance", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassOK, Status: 302}, Unclassified},
		{"404", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassStatus, Status: 404}, Permanent},
		{"429", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassStatus, Status: 429}, Retry},
		{"500", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassStatus, Status: 500}, Unclassified},
		{"503", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassStatus, Status: 503}, Retry},
		{"no such name", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassLookupFailed, Err: &net.DNSError{IsNotFound: true}}, Unclassified},
		{"resolver down", DefaultTable(), budgetcaller.Record{Class: budgetcaller.ClassLookupFailed, Err: &net.DNSError{IsTemporary: true}}, Retry},
		{"own table, the status itself", own, budgetcaller.Record{Class: budgetcaller.ClassStatus, Status: 503}, Permanent},
		{"own table, its hundred", own, budgetcaller.Record{Class: budgetcaller.ClassStatus, Status: 500}, Retry},
		{"own table, any status", own, budgetcaller.Record{Class: budgetcaller.ClassStatus, Status: 404}, Done},
		{"own table, a class", own, budgetcaller.Record{Class: budgetcaller.ClassRefused}, Permanent},
		{"own table, not in it", own, budgetcaller.Record{Class: budgetcaller.ClassReset}, Unclassified},
	} {
		if got := c.table.verdict(c.rec); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTableCheck(t *testing.T) {
	t.Parallel()
	for key, ok := range map[string]bool{
		"refused": true, "status": true, "status 503": true, "status 4xx": true, "lookup_failed not_found": true,
		"": false, "status 99": false, "status 600": false, "status 6xx": false, "status  503": false, "status 5xx ": false, "timeout": false, "status 5031": false,
	} {
		if err := (Table{key: Retry}).Check(); (err == nil) != ok {
			t.Errorf("%q: got %v, want it accepted: %v", key, err, ok)
		}
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	var key, attempt, kind string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, attempt, kind = r.Header.Get("Idempotency-Key"), r.Header.Get("X-Request-Attempt"), r.Header.Get("Content-Type")
		switch r.URL.Path {
		case "/busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/no":
			w.WriteHeader(http.StatusUnprocessableEntity)
		case "/odd":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	caller, err := budgetcaller.New(budgetcaller.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer caller.Close()
	sender := New(caller, DefaultTable())
	observed := 0
	sender.Observe = func(retryqueue.Job, budgetcaller.Record) { observed++ }
	for _, c := range []struct {
		name, payload string
		retry, final  bool
		after         time.Duration
		text          string
	}{
		{name: "accepted", payload: `{"url":"` + server.URL + `/","header":{"Content-Type":"text/plain"},"body":"x"}`},
		{name: "busy", payload: `{"url":"` + server.URL + `/busy"}`, retry: true, after: 7 * time.Second, text: "status 503"},
		{name: "refused for good", payload: `{"url":"` + server.URL + `/no"}`, final: true, text: "status 422"},
		{name: "unclassified", payload: `{"url":"` + server.URL + `/odd"}`, text: "status 500"},
		{name: "no request", payload: `not json`, final: true, text: "payload"},
		{name: "an unknown field", payload: `{"url":"` + server.URL + `","colour":"red"}`, final: true, text: "colour"},
		{name: "two values", payload: `{"url":"` + server.URL + `"} {}`, final: true, text: "behind the object"},
		{name: "no scheme", payload: `{"url":"localhost:80"}`, final: true, text: "url"},
		{name: "our own header", payload: `{"url":"` + server.URL + `","header":{"idempotency-key":"x"}}`, final: true, text: "set by the queue"},
		{name: "a method that is none", payload: `{"url":"` + server.URL + `","method":"G T"}`, final: true, text: "method"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := sender.Send(ctx, retryqueue.Job{ID: "order-7", Attempts: 3, Payload: []byte(c.payload)})
		cancel()
		var retry *retryqueue.RetryError
		var final *retryqueue.PermanentError
		if errors.As(err, &retry) != c.retry || errors.As(err, &final) != c.final || (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v (%T), want retry %v, permanent %v, text %q", c.name, err, err, c.retry, c.final, c.text)
		}
		if c.retry && retry != nil && retry.After != c.after {
			t.Errorf("%s: after %v, want %v", c.name, retry.After, c.after)
		}
		if c.name == "accepted" && (key != "order-7" || attempt != "3" || kind != "text/plain") {
			t.Errorf("headers: key %q, attempt %q, type %q", key, attempt, kind)
		}
	}
	if observed != 4 {
		t.Errorf("%d attempts observed, want 4", observed)
	}
	if err := sender.Send(t.Context(), retryqueue.Job{Payload: []byte(`{"url":"` + server.URL + `"}`)}); !errors.Is(err, budgetcaller.ErrNoBudget) {
		t.Errorf("without a deadline: got %v, want %v", err, budgetcaller.ErrNoBudget)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"url":"http://127.0.0.1/","header":{"A":"b"},"body":"x"}`))
	f.Add([]byte(`{"url":"http://127.0.0.1/","body_base64":"AA=="}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := Decode(payload)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatalf("Decode(%q) is not encoded again: %v", payload, err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatalf("Decode(%q) of Decode(%q): %v", again, payload, err)
		}
	})
}
