package budgetcaller

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// route is where a connection leads; connections of one route are alike.
type route struct {
	tls  bool
	host string // name or IP literal, without brackets
	port string
	via  string // the proxy's URL, empty if there is none
}

// routeOf returns the route of a request, or an error if it can have none.
func (c *Caller) routeOf(req *http.Request) (route, error) {
	r := route{}
	if req.URL == nil {
		return r, errors.New("request has no URL")
	}
	switch req.URL.Scheme {
	case "http":
	case "https":
		r.tls = true
	default:
		return r, fmt.Errorf("%q: scheme is %q: only http and https can be called", req.URL.Redacted(), req.URL.Scheme)
	}
	var err error
	if r.host, r.port, err = hostPort(req.URL); err != nil {
		return r, err
	}
	if err := checkRequest(req); err != nil {
		return r, err
	}
	if c.proxy == nil {
		return r, nil
	}
	via, err := c.proxy(req.URL)
	if err != nil {
		return r, fmt.Errorf("proxy for %s: %w", req.URL.Redacted(), err)
	}
	if via == nil {
		return r, nil
	}
	if via.Scheme != "http" {
		return r, fmt.Errorf("proxy %s: only http:// proxies can be used", via.Redacted())
	}
	if _, _, err := hostPort(via); err != nil {
		return r, fmt.Errorf("proxy: %w", err)
	}
	r.via = via.String()
	return r, nil
}

// first returns the host and port that the connection itself goes to.
func (r route) first() (host, port string, err error) {
	if r.via == "" {
		return r.host, r.port, nil
	}
	via, err := url.Parse(r.via)
	if err != nil {
		return "", "", err
	}
	return hostPort(via)
}

// absolute reports whether requests name the whole URL, for a proxy that reads
// them (RFC 9112, section 3.2.2). To TLS targets it only lends a tunnel.
func (r route) absolute() bool { return r.via != "" && !r.tls }

func hostPort(u *url.URL) (host, port string, err error) {
	host = u.Host
	if !plainHost(host) {
		host, port = u.Hostname(), u.Port()
	}
	if host == "" {
		return "", "", fmt.Errorf("%q has no host", u.Redacted())
	}
	if strings.Contains(host, ":") {
		// Only an IPv6 address has colons; else it is a port that is no number.
		if _, err := netip.ParseAddr(host); err != nil {
			return "", "", fmt.Errorf("%q: host %q is neither a name nor an address", u.Redacted(), host)
		}
	}
	if port == "" {
		if u.Scheme == "https" {
			return host, "443", nil
		}
		return host, "80", nil
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", "", fmt.Errorf("%q: port is %q: it must be from 1 to 65535", u.Redacted(), port)
	}
	return host, port, nil
}

// plainHost reports whether the host of a URL is a name or an IPv4 address and
// nothing else.
func plainHost(s string) bool { return strings.IndexByte(s, ':') < 0 && strings.IndexByte(s, '[') < 0 }

// address is host:port with brackets where they are needed.
func (r route) address() string { return net.JoinHostPort(r.host, r.port) }

// checkRequest refuses what cannot be put on the wire without changing its
// meaning: net/http would write it as it is.
func checkRequest(req *http.Request) error {
	if !isToken(methodOf(req)) {
		return fmt.Errorf("method %q is not a word of HTTP", req.Method)
	}
	if !spellsHost(req.Host) {
		return fmt.Errorf("host %q has a character that no host has", req.Host)
	}
	// A path is escaped when it is written; these are not.
	if u := req.URL; hasControl(u.Opaque) || hasControl(u.RawQuery) || hasControl(u.Host) {
		return fmt.Errorf("URL %q has a control character", req.URL.Redacted())
	}
	if req.ContentLength > 0 && !hasBody(req) {
		return fmt.Errorf("request announces %d bytes of body and has none", req.ContentLength)
	}
	for name, values := range req.Header {
		if !isToken(name) {
			return fmt.Errorf("header name %q is not a word of HTTP", name)
		}
		for _, v := range values {
			if strings.IndexByte(v, '\r') >= 0 || strings.IndexByte(v, '\n') >= 0 || strings.IndexByte(v, 0) >= 0 {
				return fmt.Errorf("header %s has a line break or a zero byte in its value", name)
			}
		}
	}
	return nil
}

// spellsHost reports whether s has none of the characters that would end a host
// in a head.
func spellsHost(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n', 0, '/':
			return false
		}
	}
	return true
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-':
		case c <= ' ', c >= 0x7f, strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0:
			return false
		}
	}
	return s != ""
}
