package deadline

import (
	"net/http"
	"time"
)

// Middleware returns what wraps a handler so that it works under its callers'
// deadlines, or an error that names the setting of cfg that is out of range.
//
// The wrapped handler's request has the adopted deadline as that of its
// context. If it is already over, the handler is not called and the answer is
// 504, at once; an HTTP/1 connection whose request has a body is then closed. A
// handler that has begun is not stopped: it must obey its context, and
// OnOrphaned tells of one that did not.
//
// The time runs from the moment at which the middleware is called, so it should
// be the outermost: what waits for a free worker belongs inside it. net/http
// calls a handler as soon as it has read the head, but not every wait before
// that can be seen from here: in the accept queue and the TLS handshake, while
// the head comes slowly, in the socket's buffer until the process is given the
// processor, or behind the request before it on a pipelined connection. Only
// the absolute value counts those, within the skew bound; where something in
// front of the process notes the moment, Config.Arrived can tell it.
func Middleware(cfg Config) (func(http.Handler) http.Handler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return func(next http.Handler) http.Handler {
		return &handler{cfg: cfg, next: next}
	}, nil
}

type handler struct {
	cfg  Config
	next http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel, verdict, err := begin(r.Context(), ValuesOf(r.Header), h.arrived(r), &h.cfg)
	if err != nil { // only ErrOver: cfg has been checked
		if h.cfg.OnOver != nil {
			h.cfg.OnOver(r, verdict)
		}
		answerOver(w, r)
		return
	}
	defer cancel()
	if h.cfg.OnOrphaned == nil {
		h.next.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	until, _ := ctx.Deadline()
	watch := watchCaller(r, until)
	inner := r.WithContext(ctx)
	// A panic ends the work too.
	defer func() {
		if o, orphaned := watch.end(inner); orphaned {
			h.cfg.OnOrphaned(o)
		}
	}()
	h.next.ServeHTTP(w, inner)
}

// linger is how long the rest of a request that is over is still taken in, so
// that closing under it does not destroy the answer on its way.
const linger = time.Second

// answerOver answers at once, whatever of the request's body is still to come.
func answerOver(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		// net/http would first read the body, and wait for a slow one, unless
		// the connection is to be closed. (Its full-duplex mode is no way out:
		// it panics if the body stays unread, golang/go#68560.)
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(linger)) // not every writer can
	}
	http.Error(w, ErrOver.Error()+": nothing was done", http.StatusGatewayTimeout)
}

func (h *handler) arrived(r *http.Request) time.Time {
	now := time.Now()
	if h.cfg.Arrived == nil {
		return now
	}
	if t := h.cfg.Arrived(r); !t.IsZero() && t.Before(now) {
		// The same moment by our own clock's monotonic reading.
		return now.Add(t.Sub(now))
	}
	return now
}
