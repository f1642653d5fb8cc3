package budgetcaller

// stubbed is start with Config.Stub in the place of the network. All that
// decides an attempt is the same; there are no connections to tell of.
func (a *attempt) stubbed(t *try) (*body, *Record) {
	// It ends by cut alone: a deadline of its own would be a second judge.
	ctx := &budgetContext{Context: a.ctx}
	a.free = ctx.cancel
	if !a.hold(func() { a.cancelDial = a.free }) || !a.enter(PhaseRequest) {
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	req, ok := a.told()
	if !ok {
		return nil, a.finish(ClassBudgetExhausted, LimitBudget, nil)
	}
	a.sent.Store(true)
	a.allSent(a.span.now())
	a.hearing.readFrom.Store(a.span.now())
	a.rearm()
	resp, err := a.caller.stub.RoundTrip(req.WithContext(ctx))
	a.hearing.readFrom.Store(0)
	if err != nil {
		return nil, a.finish(ClassClosed, LimitNone, err)
	}
	if !a.enter(PhaseBody) {
		_ = resp.Body.Close()
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	a.noteHead(resp)
	return &body{a: a, resp: resp, most: t.maxBody}, nil
}
