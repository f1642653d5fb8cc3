package budgetcaller

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// redirected returns the request that the answer to req asks for, whose head is
// in rec; nil if it asks for none, or for one that cannot be made (RFC 9110,
// section 15.4), or if rec is of an attempt that failed.
func redirected(ctx context.Context, req *http.Request, rec *Record) *http.Request {
	if rec.Err != nil || rec.Location == "" {
		return nil
	}
	method, keepBody := methodOf(req), false
	switch rec.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		// What every browser does, and the RFC allows: only GET and HEAD stay.
		if method != http.MethodHead {
			method = http.MethodGet
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		keepBody = true
	default:
		return nil
	}
	u, err := req.URL.Parse(rec.Location)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil
	}
	next := req.Clone(ctx)
	next.Method, next.URL, next.Host, next.Body = method, u, "", nil
	if !sameHost(req.URL, u) {
		for _, secret := range []string{"Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Www-Authenticate"} {
			next.Header.Del(secret)
		}
	}
	if keepBody && req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return nil // it cannot be sent a second time
		}
		if next.Body, err = req.GetBody(); err != nil {
			return nil
		}
		return next
	}
	next.ContentLength, next.GetBody, next.TransferEncoding = 0, nil, nil
	for name := range next.Header {
		if strings.HasPrefix(name, "Content-") {
			next.Header.Del(name)
		}
	}
	return next
}

func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(a.Hostname(), b.Hostname()) && a.Port() == b.Port() && a.Scheme == b.Scheme
}
