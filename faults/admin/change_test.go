package admin

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chaoslab/faults"
)

func TestChange(t *testing.T) {
	t.Parallel()
	_, c := start(t, "ok", "slow")
	ctx := t.Context()
	l, err := c.Set(ctx, "ok", []string{"status:status=500,when=first=1", "read-timeout"}, time.Minute)
	if err != nil || l[0].Mode != "status+read-timeout" || l[0].UntilMS == 0 || l[1].Mode != "slow" {
		t.Errorf("Set: %+v, %v", l, err)
	}
	remote := call(t, l[0])
	entries, err := c.Ledger(ctx, faults.Query{Remote: remote, Nth: 1}, time.Second)
	if err != nil || len(entries) != 1 || entries[0].Status != 500 {
		t.Errorf("after Set: %+v, %v", entries, err)
	}
	if l, err = c.Reset(ctx, "ok"); err != nil || l[0].Mode != "ok" || l[0].UntilMS != 0 {
		t.Errorf("Reset: %+v, %v", l, err)
	}
	if l, err = c.Set(ctx, "slow", nil, 0); err != nil || l[1].Mode != "ok" || len(l[1].Faults) != 0 {
		t.Errorf("Set to nothing: %+v, %v", l, err)
	}
	if l, err = c.Reset(ctx, ""); err != nil || l[1].Mode != "slow" {
		t.Errorf("Reset of all: %+v, %v", l, err)
	}
	for listener, fault := range map[string]string{"nosuch": "ok", "ok": "sloow"} {
		if _, err := c.Set(ctx, listener, []string{fault}, 0); err == nil || !strings.Contains(err.Error(), "one of ok, ") {
			t.Errorf("Set(%s, %s): got %v, want what is allowed", listener, fault, err)
		}
	}
}

func TestEffects(t *testing.T) {
	t.Parallel()
	_, c := start(t, "ok")
	listeners, err := c.Listeners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	call(t, listeners[0])
	call(t, listeners[0])
	got, err := c.Effects(t.Context())
	if err != nil || len(got) != 1 || got[0].Effects != 2 || got[0].WithoutKey != 2 || got[0].Schema != faults.EffectsSchema {
		t.Errorf("Effects: %+v, %v", got, err)
	}
	if err := c.ClearEffects(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := c.Effects(t.Context()); err != nil || got[0].Effects != 0 {
		t.Errorf("Effects after ClearEffects: %+v, %v", got, err)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	p, c := start(t, "ok")
	listener := p.Listeners()[0]
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go func() { // until one is seen: the stream's beginning cannot be waited for
		for ctx.Err() == nil {
			call(t, listener)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	stop := errors.New("seen")
	err := c.Stream(ctx, func(e faults.Entry) error {
		if !e.Ended() || e.Listener != "ok" {
			t.Errorf("entry of the stream: %+v", e)
		}
		cancel()
		return stop
	}, func(n uint64) error { t.Errorf("%d missed", n); return nil })
	if err != nil && !errors.Is(err, stop) {
		t.Errorf("Stream: %v", err)
	}
}

// TestChangesThatAreRefused: a web page can send none of them, nor can anyone
// send something that is not quite a change.
func TestChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "ok")
	h := Handler(p, false)
	const good = `{"faults":["slow:delay=1s"],"ttl":"10s"}`
	for _, tc := range []struct {
		name, kind, origin, host, path, body string
		want                                 int
	}{
		{name: "a form", kind: "application/x-www-form-urlencoded", body: good, want: 415},
		{name: "plain text", kind: "text/plain", body: good, want: 415},
		{name: "no type", kind: "", body: good, want: 415},
		{name: "from a page", origin: "http://evil.example", body: good, want: 403},
		{name: "from a page without a name", origin: "null", body: good, want: 403},
		{name: "a name that leads here", host: "evil.example", body: good, want: 403},
		{name: "unknown listener", path: "/v1/listeners/nosuch/faults", body: good, want: 400},
		{name: "unknown fault", body: `{"faults":["sloow"]}`, want: 400},
		{name: "unknown key", body: `{"faults":[],"tll":"1s"}`, want: 400},
		{name: "no faults", body: `{"ttl":"1s"}`, want: 400},
		{name: "bad ttl", body: `{"faults":[],"ttl":"0s"}`, want: 400},
		{name: "ttl without unit", body: `{"faults":[],"ttl":"5"}`, want: 400},
		{name: "long ttl", body: `{"faults":[],"ttl":"100h"}`, want: 400},
		{name: "more behind", body: good + good, want: 400},
		{name: "not JSON", body: `slow`, want: 400},
		{name: "nothing", body: ``, want: 400},
		{name: "too long", body: `{"faults":["` + strings.Repeat("x", maxChange) + `"]}`, want: 413},
		{name: "good", kind: "application/json; charset=utf-8", body: good, want: 200},
	} {
		path := tc.path
		if path == "" {
			path = "/v1/listeners/ok/faults"
		}
		r := httptest.NewRequest("PUT", path, strings.NewReader(tc.body))
		r.Host = "127.0.0.1:8079"
		if tc.host != "" {
			r.Host = tc.host
		}
		kind := tc.kind
		if kind == "" && tc.name != "no type" {
			kind = "application/json"
		}
		r.Header.Set("Content-Type", kind)
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if body, _ := io.ReadAll(w.Result().Body); w.Code != tc.want {
			t.Errorf("%s: got %d %s, want %d", tc.name, w.Code, body, tc.want)
		}
		if mode := p.Listeners()[0].Mode; tc.want != 200 && mode != "ok" {
			t.Fatalf("%s: the listener is %s now", tc.name, mode)
		}
	}
}

func FuzzChange(f *testing.F) {
	f.Add([]byte(`{"faults":["slow:delay=1s"],"ttl":"10s"}`))
	f.Add([]byte(`{"faults":[]}`))
	f.Add([]byte(`{"faults":null}{`))
	f.Fuzz(func(t *testing.T, body []byte) {
		specs, ttl, err := parseChange(faults.Modes{}, body)
		if err != nil && (specs != nil || ttl != 0) || ttl < 0 || ttl > faults.MaxTTL {
			t.Errorf("parseChange(%q) = %v, %v, %v", body, specs, ttl, err)
		}
	})
}
