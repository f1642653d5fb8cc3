// Package deadline passes deadlines down from service to service, and adopts
// those that come from above. It needs nothing but the standard library, so
// that any server can use it, whatever its own calls are made with.
//
// The side that calls sets both headers for each attempt, when it is sent:
//
//	left := time.Until(until)
//	if !deadline.Set(req.Header, left, time.Now()) {
//		return errNothingLeft
//	}
//
// The side that is called wraps its handlers:
//
//	adopt, err := deadline.Middleware(deadline.Config{Cap: 2 * time.Second})
//	if err != nil {
//		return err
//	}
//	server.Handler = adopt(mux)
//
// From there on the deadline is that of the request's context: what is called
// with this context is cut when it ends, and what is left of it is passed down
// again. Begin does the same for a protocol other than net/http; an interceptor
// for gRPC is
//
//	v := deadline.Values{Timeout: md.Get(deadline.HeaderTimeout), Deadline: md.Get(deadline.HeaderDeadline)}
//	ctx, cancel, _, err := deadline.Begin(ctx, v, time.Now(), cfg)
//	if err != nil {
//		return nil, status.FromContextError(context.DeadlineExceeded).Err()
//	}
//	defer cancel()
//	return handle(ctx, req)
//
// A length of time goes down although a point in time is what counts: it is
// reckoned afresh from the one deadline each time it is sent, so it does not
// start anew at each hop, and it needs no two clocks to agree. The point in
// time goes with it to count what the length cannot: a wait on the way.
//
// It leaves out:
//
//   - An end for handlers. Go cannot stop one from outside; http.TimeoutHandler
//     answers in its place and lets it work on. This package tells of it instead.
//   - Work in goroutines that outlive their handler: nothing here sees it.
//   - Deadlines for streams and upgraded connections that are meant to stay
//     open: keep them outside the middleware.
//   - Trust. Any caller can ask for as little time as it likes, and for no more
//     than the cap.
package deadline
