// Package budgetcaller makes HTTP calls under limits and says how each really
// ended: its [Class], the [Phase] it had reached, the [Limit] that fired, and
// whether the partner may have carried it out (its [Effect]).
//
// [Caller.Run] sends one request and measures it; [Caller.Do] is the whole call
// of a service, with retries, breaker and throttle as its [Dependency] says.
//
//	caller, err := budgetcaller.New(budgetcaller.Config{
//		Limits: budgetcaller.Limits{Connect: 300 * time.Millisecond, Read: time.Second},
//	})
//	…
//	ctx, cancel, err := budgetcaller.Begin(ctx, 2*time.Second)
//	…
//	res, err := caller.Run(ctx, req, os.Stdout)
//	…
//	switch rec := res.Last(); rec.Effect {
//	case budgetcaller.EffectNone: // it cannot have happened: safe to repeat
//	case budgetcaller.EffectUnknown: // it may have: only what may happen twice
//	}
//
// # Limits
//
// Every call has a budget, the time that it may take in all; [Begin] puts it
// into a context as its deadline, and a context without one is refused. Within
// it, [Limits] bound an attempt: Connect its way to a connection, Read the
// partner's silence (not the total: every byte starts it afresh), Attempt the
// whole of it, Pool the wait for a free connection. Of two that end together
// the outer one counts.
//
// The verdict comes from the timer that fired first, never from an error's
// text. An attempt does not end before its limit, and when it has ended, nothing
// of it goes on: no dialling, no reading, no goroutine. The one thing that no
// limit can end is code of the user's own, such as a request body that ignores
// being closed, or a sink that does not return.
//
// # Connections
//
// The package dials for itself and keeps connections, one attempt at a time on
// each. It never sends a request twice unseen, as net/http does when a kept
// connection dies: the attempts in a [Result] are the requests that the partner
// can have seen. A connection that died while it was idle is replaced before a
// byte is written, and that is no attempt.
//
// # What it leaves out
//
// HTTP/2, where one connection is shared by several calls: cutting one of them
// off does not free what it used. Decompression: the bytes reported are the
// bytes sent. Cookies, and the credentials in a URL: a request goes out as it
// was given, in Do with what is left of its time and the number of the attempt (see
// package deadline and [HeaderAttempt]). Proxies of the environment: a
// library does not read it; see Config.Proxy. Logs and metrics: [Hooks] tell of
// all that happens, and package budgetprom turns them into metrics.
package budgetcaller
