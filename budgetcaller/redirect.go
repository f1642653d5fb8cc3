package budgetcaller

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// redirect is where an answer leads.
type redirect struct {
	method   string
	url      *url.URL
	keepBody bool
}

// redirectOf returns where the answer to req leads, whose head is in rec; false
// if nowhere, or to where no request can be made (RFC 9110, section 15.4), or
// if rec is of an attempt that failed.
func redirectOf(req *http.Request, rec *Record) (redirect, bool) {
	to := redirect{method: methodOf(req)}
	if rec.Err != nil || rec.Location == "" {
		return to, false
	}
	switch rec.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		// What every browser does, and the RFC allows: only GET and HEAD stay.
		if to.method != http.MethodHead {
			to.method = http.MethodGet
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to.keepBody = hasBody(req)
		if to.keepBody && req.GetBody == nil {
			return to, false // it cannot be sent a second time
		}
	default:
		return to, false
	}
	var err error
	if to.url, err = req.URL.Parse(rec.Location); err != nil || (to.url.Scheme != "http" && to.url.Scheme != "https") {
		return to, false
	}
	_, _, err = hostPort(to.url)
	return to, err == nil
}

// redirected returns the request that the answer to req asks for, nil if none.
func redirected(ctx context.Context, req *http.Request, rec *Record) *http.Request {
	to, ok := redirectOf(req, rec)
	if !ok {
		return nil
	}
	next := req.Clone(ctx)
	next.Method, next.URL, next.Host, next.Body = to.method, to.url, "", nil
	if !sameHost(req.URL, to.url) {
		for _, secret := range []string{"Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Www-Authenticate"} {
			next.Header.Del(secret)
		}
	}
	if to.keepBody {
		body, err := req.GetBody()
		if err != nil {
			return nil
		}
		next.Body = body
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
