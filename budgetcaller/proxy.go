package budgetcaller

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// tunnel asks the proxy for a way to the target (RFC 9110, section 9.3.6). It
// is part of connecting: the target has seen nothing yet.
func (a *attempt) tunnel(c *conn) error {
	via, err := url.Parse(a.route.via)
	if err != nil {
		return err
	}
	target := a.route.address()
	ask := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target,
		Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	setProxyAuth(ask.Header, via)
	if err := ask.Write(c.app); err != nil {
		return err
	}
	br := bufio.NewReader(io.LimitReader(c.app, a.caller.maxHead))
	resp, err := http.ReadResponse(br, ask)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return errors.New("the proxy refused the tunnel: " + resp.Status)
	case br.Buffered() > 0:
		return errors.New("the proxy sent more than its answer")
	}
	return nil
}

// throughProxy returns req as it is sent to a proxy that reads it.
func throughProxy(req *http.Request, via string) *http.Request {
	u, err := url.Parse(via)
	if err != nil || u.User == nil {
		return req
	}
	clone := *req
	clone.Header = req.Header.Clone()
	if clone.Header == nil {
		clone.Header = http.Header{}
	}
	setProxyAuth(clone.Header, u)
	return &clone
}

func setProxyAuth(h http.Header, via *url.URL) {
	if via.User == nil {
		return
	}
	password, _ := via.User.Password()
	word := base64.StdEncoding.EncodeToString([]byte(via.User.Username() + ":" + password))
	h.Set("Proxy-Authorization", "Basic "+word)
}
