package budgetcaller

import (
	"errors"
	"net"
	"net/http"
)

// mayRepeat reports whether an attempt that ended as rec may be followed by
// another one of the same request, and if not, why.
func mayRepeat(req *http.Request, rec *Record) (bool, string) {
	if !temporary(rec) {
		return false, "a failure of this kind is not repeated"
	}
	if hasBody(req) && req.GetBody == nil {
		return false, "its body cannot be sent twice"
	}
	switch {
	case rec.Class == ClassStatus && (rec.Status == http.StatusTooManyRequests ||
		(rec.Status == http.StatusServiceUnavailable && rec.RetryAfter != "")):
		return true, "" // the partner itself says that it did nothing
	case rec.Effect == EffectUnknown, rec.Class == ClassStatus:
		// It may have happened: only what may happen twice is asked for twice.
		if !idempotent(req) {
			return false, "it may have happened, and neither its method nor an Idempotency-Key makes it safe to repeat"
		}
	}
	return true, ""
}

// temporary reports whether a failure is of a kind that passes.
func temporary(rec *Record) bool {
	switch rec.Class {
	case ClassRefused, ClassUnreachable, ClassConnectTimeout, ClassTLSTimeout, ClassReset,
		ClassClosed, ClassReadTimeout, ClassAttemptTimeout, ClassTruncated:
		return true
	case ClassLookupFailed:
		var dns *net.DNSError
		return errors.As(rec.Err, &dns) && dns.Temporary()
	case ClassStatus:
		switch rec.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
	}
	return false
}

// idempotent reports whether req may be carried out twice: by its method
// (RFC 9110, section 9.2.2), or because it carries an Idempotency-Key.
func idempotent(req *http.Request) bool {
	switch methodOf(req) {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace,
		http.MethodPut, http.MethodDelete:
		return true
	}
	return req.Header.Get("Idempotency-Key") != ""
}
