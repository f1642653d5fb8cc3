package budgetcaller

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// throughURL is a Config.Proxy that sends everything to raw.
func throughURL(t testing.TB, raw string) func(*url.URL) (*url.URL, error) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return func(*url.URL) (*url.URL, error) { return u, nil }
}

// To http targets the proxy gets the whole URL, on connections that are kept.
func TestProxyAbsoluteForm(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 2)
	proxy := serve(t, func(p *peer) {
		for req := p.request(); req != nil; req = p.request() {
			seen <- req
			p.send(answer("hi"))
		}
	})
	c := newCaller(t, Config{Proxy: throughURL(t, "http://us%65r:p%40ss@"+proxy.host)})
	for nth := range 2 {
		// The name is never looked up here: that is the proxy's work.
		req := newRequest(t, "GET", "http://nowhere.test:81/a?b=c", nil)
		rec := once(t, c, 5*time.Second, req)
		if rec.Class != ClassOK || rec.Nth != nth+1 || rec.Remote.String() != proxy.host {
			t.Errorf("%v (%v), request %d to %v", rec.Class, rec.Err, rec.Nth, rec.Remote)
		}
		got := <-seen
		user, pass, ok := got.BasicAuth()
		if got.RequestURI != "http://nowhere.test:81/a?b=c" || got.Host != "nowhere.test:81" || ok {
			t.Errorf("request line %q, host %q, Authorization of %s:%s", got.RequestURI, got.Host, user, pass)
		}
		if auth := got.Header.Get("Proxy-Authorization"); auth != "Basic dXNlcjpwQHNz" {
			t.Errorf("Proxy-Authorization %q, want that of user:p@ss", auth)
		}
		if req.Header.Get("Proxy-Authorization") != "" {
			t.Error("the user's own request was changed")
		}
	}
}

// relay answers a CONNECT and then carries bytes to host.
func relay(p *peer, host string) {
	out, err := net.Dial("tcp", host)
	if err != nil {
		return
	}
	defer out.Close()
	p.send("HTTP/1.1 200 Connection established\r\n\r\n")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(out, p.br)
		_ = out.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(p.Conn, out)
	_ = p.tcp.Close()
	<-done
}

func TestProxyTunnel(t *testing.T) {
	t.Parallel()
	cert, pool := authority(t)
	w := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) { p.answers(answer("hi")) })
	asked := make(chan *http.Request, 1)
	proxy := serve(t, func(p *peer) {
		if req := p.requestHead(); req != nil {
			asked <- req
			relay(p, w.host)
		}
	})
	c := newCaller(t, Config{TLS: &tls.Config{RootCAs: pool}, Proxy: throughURL(t, "http://user:pass@"+proxy.host)})
	for nth := range 3 {
		rec := once(t, c, 5*time.Second, get(t, "https://name.test:444/"))
		want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: 2, expected: 2}.check(t, rec)
		if rec.Nth != nth+1 {
			t.Errorf("request %d on its connection, want %d", rec.Nth, nth+1)
		}
	}
	if req := <-asked; req.Method != "CONNECT" || req.RequestURI != "name.test:444" || !strings.HasPrefix(req.Header.Get("Proxy-Authorization"), "Basic ") {
		t.Errorf("the proxy was asked %s %s, %v", req.Method, req.RequestURI, req.Header)
	}
	if proxy.conns.Load() != 1 {
		t.Errorf("%d tunnels, want 1", proxy.conns.Load())
	}
}

// A tunnel that does not come about is part of connecting: no effect.
func TestProxyTunnelFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		script func(*peer)
		class  Class
		limit  Limit
		least  time.Duration
	}{
		{"403", func(p *peer) { p.answers("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }, ClassUnreachable, LimitNone, 0},
		{"407", func(p *peer) { p.answers("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n") }, ClassUnreachable, LimitNone, 0},
		{"502", func(p *peer) { p.answers("HTTP/1.1 502 Gone\r\nContent-Length: 0\r\n\r\n") }, ClassUnreachable, LimitNone, 0},
		{"bytes behind the answer", func(p *peer) { p.answers("HTTP/1.1 200 OK\r\n\r\nmore") }, ClassUnreachable, LimitNone, 0},
		{"end", func(p *peer) { p.requestHead(); p.fin() }, ClassUnreachable, LimitNone, 0},
		{"garbage", func(p *peer) { p.send("hello\r\n"); p.hold() }, ClassUnreachable, LimitNone, 0},
		{"endless head", func(p *peer) {
			for p.send("HTTP/1.1 200 OK\r\n") && p.send("X: "+strings.Repeat("x", 4000)+"\r\n") {
			}
		}, ClassUnreachable, LimitNone, 0},
		{"reset", func(p *peer) { p.requestHead(); p.reset() }, ClassReset, LimitNone, 0},
		{"silence", (*peer).hold, ClassConnectTimeout, LimitConnect, 200 * ms},
		{"silence in the handshake", func(p *peer) { p.requestHead(); p.send("HTTP/1.1 200 OK\r\n\r\n"); p.hold() }, ClassTLSTimeout, LimitConnect, 200 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			proxy := serve(t, tt.script)
			limits := Limits{Connect: 5 * time.Second}
			if tt.limit == LimitConnect {
				limits.Connect = tt.least
			}
			c := newCaller(t, Config{Limits: limits, Proxy: throughURL(t, proxy.url(""))})
			rec := once(t, c, 10*time.Second, get(t, "https://name.test/"))
			phase := PhaseConnect
			if tt.class == ClassTLSTimeout {
				phase = PhaseTLS
			}
			want{class: tt.class, limit: tt.limit, phases: in(phase), effects: none(), expected: -1, least: tt.least}.check(t, rec)
		})
	}
}

// The environment's proxies are not used unless asked for.
func TestEnvironmentProxyIsNotUsed(t *testing.T) {
	// Not parallel: it changes the environment.
	proxy := serve(t, func(p *peer) { p.answers(answer("proxy")) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://"+proxy.host)
	}
	w := serve(t, func(p *peer) { p.answers(answer("hi")) })
	for _, url := range []string{w.url("/"), "http://direct.test:" + w.host[strings.LastIndex(w.host, ":")+1:]} {
		rec := once(t, newCaller(t, Config{Lookup: lookup(nil, loopback4())}), 5*time.Second, get(t, url))
		if rec.Class != ClassOK || rec.Bytes != 2 || proxy.conns.Load() != 0 {
			t.Errorf("%s: %v, %d bytes (%v), %d connections to the proxy", url, rec.Class, rec.Bytes, rec.Err, proxy.conns.Load())
		}
	}
}

// A proxy that cannot be used is an error before anything is sent.
func TestProxyRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ proxy, want string }{
		{"socks5://127.0.0.1:1", "only http:// proxies"},
		{"https://127.0.0.1:1", "only http:// proxies"},
		{"http://", "no host"},
		{"http://127.0.0.1:0", "port"},
	} {
		_, err := run(t, newCaller(t, Config{Proxy: throughURL(t, tt.proxy)}), time.Second, get(t, "http://name.test/"), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("proxy %s: error %v, want one with %q", tt.proxy, err, tt.want)
		}
	}
	fails := Config{Proxy: func(*url.URL) (*url.URL, error) { return nil, errUser }}
	if _, err := run(t, newCaller(t, fails), time.Second, get(t, "http://name.test/"), nil); err == nil || !strings.Contains(err.Error(), errUser.Error()) {
		t.Errorf("error %v, want the proxy function's own", err)
	}
}
