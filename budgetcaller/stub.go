package budgetcaller

// stubCall is what goes with a request to a stub, which may keep it all.
type stubCall struct {
	budgetContext           // that of the request
	values        [2]string // its headers of the deadline
}

// stubbed is start with Config.Stub in the place of the network. All that
// decides an attempt is the same; there are no connections to tell of.
func (a *attempt) stubbed(t *try) (*body, *Record) {
	// It ends by cut alone: a deadline of its own would be a second judge.
	call := &stubCall{budgetContext: budgetContext{Context: a.ctx}}
	if !a.hold(func() { a.stub = call }) || !a.enterAt(PhaseRequest, 1) {
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	a.req, a.ownReq = a.req.WithContext(call), true
	req, ok := a.told(a.span.start) // no time has passed since: nothing was waited for
	if !ok {
		return nil, a.finish(ClassBudgetExhausted, LimitBudget, nil)
	}
	a.sent.Store(true)
	a.allSent(1)
	a.hearing.readFrom.Store(1)
	a.rearm()
	resp, err := a.caller.stub.RoundTrip(req)
	a.hearing.readFrom.Store(0)
	if err != nil {
		return nil, a.finish(ClassClosed, LimitNone, err)
	}
	if !a.enter(PhaseBody) {
		_ = resp.Body.Close()
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	a.noteHead(resp)
	a.body = body{a: a, resp: resp, most: t.maxBody}
	return &a.body, nil
}
