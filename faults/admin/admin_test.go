package admin

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaoslab/faults"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a partner with an admin port and a client for it.
func start(t *testing.T, modes ...string) (*faults.Partner, *Client) {
	t.Helper()
	var listeners []faults.ListenerConfig
	for _, m := range modes {
		s, err := faults.Parse(m)
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, faults.ListenerConfig{Name: s.Name(), Faults: []faults.Spec{s}})
	}
	p, err := faults.Start(faults.Config{Listeners: listeners})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(Config{Partner: p})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		c.Close()
		if err := s.Close(ctx); err != nil {
			t.Errorf("admin: Close: %v", err)
		}
		if err := p.Close(ctx); err != nil {
			t.Errorf("partner: Close: %v", err)
		}
	})
	return p, c
}

// call sends one GET to a listener and returns the client's end of it.
func call(t *testing.T, l faults.Listener) netip.AddrPort {
	t.Helper()
	nc, err := net.Dial("tcp", l.Addresses[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(2 * time.Second))
	_, _ = nc.Write([]byte("GET /p HTTP/1.1\r\nHost: h\r\n\r\n"))
	_, _ = nc.Read(make([]byte, 4096)) // an answer or none, as the fault will have it
	return nc.LocalAddr().(*net.TCPAddr).AddrPort()
}

func TestClient(t *testing.T) {
	t.Parallel()
	_, c := start(t, "ok", "read-timeout")
	ctx := t.Context()
	listeners, err := c.Listeners(ctx)
	if err != nil || len(listeners) != 2 || listeners[1].Mode != "read-timeout" || !strings.HasPrefix(listeners[1].URL, "http://127.0.0.1:") {
		t.Fatalf("Listeners() = %+v, %v", listeners, err)
	}
	for i, want := range []string{"partner", "client"} {
		remote := call(t, listeners[i])
		entries, err := c.Ledger(ctx, faults.Query{Remote: remote, Nth: 1}, 5*time.Second)
		if err != nil || len(entries) != 1 || entries[0].EndedBy != want || entries[0].Path != "/p" || entries[0].Schema != faults.LedgerSchema {
			t.Errorf("Ledger(%v) = %+v, %v, want one request ended by the %s", remote, entries, err, want)
		}
	}
	all, err := c.Ledger(ctx, faults.Query{}, 0)
	if err != nil || len(all) != 4 {
		t.Errorf("Ledger(all) = %d entries, %v, want 4", len(all), err)
	}
	if err := c.ClearLedger(ctx); err != nil {
		t.Error(err)
	}
	if all, err := c.Ledger(ctx, faults.Query{}, 0); err != nil || len(all) != 0 {
		t.Errorf("Ledger(all) after ClearLedger = %d entries, %v, want 0", len(all), err)
	}
}

func TestClientSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := NewClient("127.0.0.1:8079"); err == nil || !strings.Contains(err.Error(), "with its scheme") {
		t.Errorf("NewClient without a scheme: %v", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	c, err := NewClient("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Listeners(t.Context()); err == nil || !strings.Contains(err.Error(), "no partner answers at http://") {
		t.Errorf("Listeners() where nothing is: %v", err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	c2, err := NewClient(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c2.Close()
	if _, err := c2.Listeners(t.Context()); err == nil || !strings.Contains(err.Error(), "no partner's admin port") {
		t.Errorf("Listeners() of another server: %v", err)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "ok")
	h := Handler(p, false)
	for _, tc := range []struct {
		name, method, target, host, header string
		want                               int
	}{
		{"fine", "GET", "/v1/ledger", "127.0.0.1:8079", "", 200},
		{"fine by name", "GET", "/v1/ledger", "localhost:8079", "", 200},
		{"fine by IPv6", "GET", "/v1/ledger", "[::1]:8079", "", 200},
		{"a name that leads here", "GET", "/v1/ledger", "evil.example", "", 403},
		{"from a web page", "DELETE", "/v1/ledger", "127.0.0.1:8079", "Origin: http://evil.example", 403},
		{"a change without its type", "DELETE", "/v1/ledger", "127.0.0.1:8079", "", 415},
		{"a change with its type", "DELETE", "/v1/ledger", "127.0.0.1:8079", "Content-Type: application/json", 204},
		{"unknown path", "GET", "/v2/ledger", "localhost", "", 404},
		{"unknown parameter", "GET", "/v1/ledger?foo=1", "localhost", "", 400},
		{"twice", "GET", "/v1/ledger?nth=1&nth=2", "localhost", "", 400},
		{"bad remote", "GET", "/v1/ledger?remote=here", "localhost", "", 400},
		{"nth alone", "GET", "/v1/ledger?nth=1", "localhost", "", 400},
		{"bad number", "GET", "/v1/ledger?limit=-1", "localhost", "", 400},
		{"bad after", "GET", "/v1/ledger?after=x", "localhost", "", 400},
		{"too long a wait", "GET", "/v1/ledger?wait=2h", "localhost", "", 400},
		{"broken query", "GET", "/v1/ledger?%zz", "localhost", "", 400},
		{"a listener", "GET", "/v1/ledger?listener=ok", "localhost", "", 200},
		{"an unknown listener", "GET", "/v1/ledger?listener=okay", "localhost", "", 400},
		{"no listener's name", "GET", "/v1/ledger?listener=", "localhost", "", 400},
	} {
		r := httptest.NewRequest(tc.method, "http://x/", nil)
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(tc.target, "?")
		r.Host = tc.host
		if key, value, ok := strings.Cut(tc.header, ": "); ok {
			r.Header.Set(key, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Result().Body)
		if w.Code != tc.want {
			t.Errorf("%s: %s %s: got %d %s, want %d", tc.name, tc.method, tc.target, w.Code, body, tc.want)
		}
		if tc.want == 400 && !strings.HasPrefix(string(body), `{"error":"`) {
			t.Errorf("%s: got body %s, want an error that says why", tc.name, body)
		}
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	p, c := start(t, "ok")
	for listen, want := range map[string]string{
		"0.0.0.0:0": "not loopback", "nonsense": "write HOST:PORT", strings.TrimPrefix(c.base, "http://"): "taken",
	} {
		s, err := Start(Config{Partner: p, Listen: listen})
		if err == nil {
			s.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start(%s): got %v, want %q", listen, err, want)
		}
	}
}

// TestLoopbackAdminKeepsItsHost: that listeners may be reached from outside opens
// an admin port on loopback to no other name.
func TestLoopbackAdminKeepsItsHost(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "ok")
	for listen, want := range map[string]int{"127.0.0.1:0": 403, "0.0.0.0:0": 200} {
		s, err := Start(Config{Partner: p, Listen: listen, AllowRemote: true})
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL(), "http://"))
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:"+port+"/v1/ledger", nil)
		r.Host = "evil.example"
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("admin on %s, Host evil.example: got %s, want %d", listen, answer.Status, want)
		}
		_ = s.Close(t.Context())
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("remote=127.0.0.1:80&nth=1&wait=1s")
	f.Add("after=1&limit=2&listener=x")
	f.Fuzz(func(t *testing.T, raw string) {
		q, wait, err := parseQuery(raw)
		if err == nil && (wait < 0 || wait > MaxWait || q.Nth < 0 || q.Limit < 0) {
			t.Errorf("parseQuery(%q) = %+v, %v", raw, q, wait)
		}
	})
}
