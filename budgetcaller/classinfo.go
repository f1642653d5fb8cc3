package budgetcaller

// ClassInfo explains one class to a person. It is what "caller explain" prints
// and what the README's table of classes is made from.
type ClassInfo struct {
	Class  Class
	When   string // when a result gets this class
	Effect string // what it says about the effect
	Do     string // what to do about it
}

// Classes returns the explanation of every class but ClassNone, in the order
// of the constants. The slice is the caller's own.
func Classes() []ClassInfo {
	return []ClassInfo{
		{
			ClassOK, "the whole answer came, with a status below 400", "answered",
			"Nothing. Keep the durations: limits come from what good calls take.",
		},
		{
			ClassStatus, "the whole answer came, with a status of 400 or above", "answered; unknown for 502 and 504, where a gateway lost sight of the server behind it",
			"429, 502, 503 and 504 may pass: retry with backoff, obey Retry-After. Any other 4xx is the request's own fault: never retry it.",
		},
		{
			ClassRefused, "the port said no: nothing listens there", "none",
			"Safe to retry, also a POST. If it stays, the partner is down or the port is wrong.",
		},
		{
			ClassUnreachable, "no route to the host, or the network said it cannot be reached", "none",
			"Safe to retry. Check routes, VPN and firewall; the partner itself never saw the call.",
		},
		{
			ClassLookupFailed, "the name does not exist, or the resolver failed", "none",
			"Check the spelling first. A resolver that fails now and then may be retried.",
		},
		{
			ClassConnectTimeout, "the connect limit ended the lookup or the connect; with limit kernel the system gave up by itself", "none",
			"Safe to retry. A connect limit of a few hundred ms is enough inside a data centre: who does not answer a SYN by then is gone.",
		},
		{
			ClassTLSTimeout, "the connect limit ended the TLS handshake", "none",
			"Safe to retry. The port is open, but who listens does not speak, or is too busy to.",
		},
		{
			ClassTLSFailed, "the TLS handshake failed: certificate, name or protocol", "none",
			"Do not retry: it fails again. Read the error; --ca names the authority to trust.",
		},
		{
			ClassPoolTimeout, "no connection came free within the pool limit", "none",
			"The partner is not to blame yet: all of our own connections are busy. Look for slow calls that hold them, or bodies never closed.",
		},
		{
			ClassRequestTimeout, "the partner took none of our bytes for the read limit while the request was being sent", "unknown",
			"Part of the request arrived. Retry only what may happen twice.",
		},
		{
			ClassReadTimeout, "silence beyond the read limit: before the first byte, inside the head, or inside the body", "unknown",
			"It may have happened. Retry only an idempotent method or a request with an Idempotency-Key.",
		},
		{
			ClassAttemptTimeout, "the attempt limit ended it, in the phase named", "none before the request was sent, unknown after",
			"The partner may well be alive and slow. Compare the limit with its p99; retry only what may happen twice.",
		},
		{
			ClassClosed, "the connection was closed without a byte of answer", "unknown",
			"Often a keep-alive connection that died, or a crash while working. Retry only what may happen twice.",
		},
		{
			ClassReset, "a RST came after the connection was made", "unknown; none if no byte of the request had been sent",
			"Somebody threw the call away. Retry only what may happen twice.",
		},
		{
			ClassTruncated, "an orderly end before the answer was whole, a head cut short included", "unknown",
			"Throw the part away: half an answer is no answer. Retry only what may happen twice.",
		},
		{
			ClassMalformed, "what came is not HTTP, or a broken head or chunk, or a head beyond the bound", "unknown",
			"Do not retry blindly: who answers there may not be the partner at all.",
		},
		{
			ClassBudgetExhausted, "the budget ended it, in the phase named", "none before the request was sent, unknown after",
			"No time is left for another try: answer with what there is. If it happens often, the budget or the partner is wrong.",
		},
		{
			ClassBelowFloor, "not started: less than the floor was left of the budget", "none by itself; unknown if an earlier attempt of the call left it so",
			"Right so: a call that cannot finish was not made. Give the calls before it less time.",
		},
		{
			ClassBreakerOpen, "not started: the circuit breaker is open", "none by itself; unknown if an earlier attempt of the call left it so",
			"Use the fallback. The breaker lets trial calls through by itself after its wait.",
		},
		{
			ClassCanceled, "whoever called gave up: its context was cancelled, or SIGINT came", "none before the request was sent, unknown after",
			"Nothing to mend here. If the call mattered, find out what the partner did.",
		},
	}
}
