package deadline

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// Orphaned tells of work that a handler did for nobody: it went on after the
// caller had gone or after the deadline. A handler that obeys its context needs
// a moment to end, too; so even one that is in order shows a small Overlap.
type Orphaned struct {
	Method string
	// Pattern is what matched in http.ServeMux, as it was registered: fit for a
	// metric's label. It is empty if no ServeMux is around the middleware nor
	// straight inside it.
	Pattern string
	// Path is the path that was asked for, as it came: any caller can make up
	// new ones without end.
	Path string
	// Gone says that the caller had gone, else the deadline came first. A
	// caller's going is seen only once the request's body has been read, since
	// net/http looks no sooner.
	Gone bool
	// Since is the moment from which on nobody waited.
	Since time.Time
	// Overlap is how long the handler went on from then.
	Overlap time.Duration
}

// callerWatch notes when the caller of one request goes.
type callerWatch struct {
	method, path string
	begun, until time.Time
	gone         atomic.Int64 // nanoseconds after begun, 0 if it has not
	stop         func() bool
}

// watchCaller begins to watch. It costs no goroutine unless the caller goes.
func watchCaller(r *http.Request, until time.Time) *callerWatch {
	w := &callerWatch{method: r.Method, path: r.URL.Path, begun: time.Now(), until: until}
	w.stop = context.AfterFunc(r.Context(), func() {
		w.gone.Store(max(1, int64(time.Since(w.begun))))
	})
	return w
}

// end ends the watch when the work has ended and returns its report, and false
// if there is nothing to report. inner is the request that the handler had.
func (w *callerWatch) end(inner *http.Request) (Orphaned, bool) {
	now := time.Now()
	w.stop()
	o := Orphaned{Method: w.method, Pattern: inner.Pattern, Path: w.path, Since: w.until}
	if gone := w.gone.Load(); gone > 0 {
		// Not before: the context's own deadline, which is in until, ended it.
		if at := w.begun.Add(time.Duration(gone)); at.Before(w.until) {
			o.Gone, o.Since = true, at
		}
	}
	o.Overlap = now.Sub(o.Since)
	return o, o.Overlap > 0
}
