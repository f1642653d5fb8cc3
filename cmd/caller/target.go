package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// target is what is measured: a URL and, if a partner told it to us, the name of
// the listener behind it.
type target struct {
	url  *url.URL
	name string // empty if none is known

	addresses []netip.AddrPort // where that listener is; empty: where the URL says
}

// String returns the URL as it is printed.
func (t target) String() string { return t.url.String() }

// parseTarget reads the URL of a target. The error says what to type instead.
func parseTarget(raw string) (target, error) {
	if raw == "" {
		return target{}, errors.New("empty URL: write one such as http://127.0.0.1:8080/")
	}
	if !strings.Contains(raw, "://") {
		rest, scheme := raw, "http"
		for _, s := range []string{"http", "https"} {
			if after, found := strings.CutPrefix(raw, s+":"); found {
				rest, scheme = after, s
			}
		}
		return target{}, fmt.Errorf("%q has no scheme: did you mean %s://%s?", raw, scheme, strings.TrimLeft(rest, "/"))
	}
	u, err := url.Parse(raw)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return target{}, fmt.Errorf("%q is not a URL: %w", raw, err)
	}
	port, portErr := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return target{}, fmt.Errorf("%q: only http and https can be measured, not %s", raw, u.Scheme)
	case u.Hostname() == "":
		return target{}, fmt.Errorf("%q has no host: write one such as http://127.0.0.1:8080/", raw)
	case u.User != nil:
		return target{}, errors.New("a name or password in a URL shows up in results: use --header 'Authorization: ...'")
	case u.Port() != "" && (portErr != nil || port == 0):
		return target{}, fmt.Errorf("%q: port %s is not one of 1 to 65535", raw, u.Port())
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return target{url: u}, nil
}

// loopback says whether a call to u cannot leave the machine. A name other than
// localhost may lead anywhere.
func loopback(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.Unmap().IsLoopback()
}

// port returns the port that a call to u goes to.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
