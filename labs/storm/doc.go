// Package storm makes a retry storm and measures it: many instances of a service
// call one partner, the partner fails for a while, and every instance tries
// again as its policy says.
//
//	own, err := storm.StartOwn(storm.OwnConfig{Healthy: "ok", Failing: "status"})
//	…
//	defer own.Close(ctx)
//	report, err := storm.Run(ctx, storm.Config{
//		Instances: 20, Rate: 100, Attempts: 5, Policy: storm.None, Partner: own,
//		Healthy: 2 * time.Second, Failure: 3 * time.Second, Recovery: 6 * time.Second,
//	})
//
// The load is open: a call is made when it is due, whether or not those before it
// were answered, and its latency counts from when it was due. A generator that
// waits for answers would go easy on a partner just when it is slow, and would
// not count what it did not send (coordinated omission).
//
// What arrives is counted by the partner. Which of it was a first attempt and
// which a retry is known where it was sent: both counts are in the report, and
// the difference between them. Where nobody counts (ErrUncounted), there is what
// was sent.
//
// RunSlow is another experiment: a hop with few workers whose partner turns
// slow, and what that does to requests that do not need the partner.
//
// Everything is bounded: time, calls, calls under way, connections. Left out:
// instances in processes or on machines of their own. One process holds all of
// them, and by default the partner too, so what it can do is what both ends can
// do together; the report says when that was too little.
package storm
