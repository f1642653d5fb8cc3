package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"chaoslab/faults"
	"chaoslab/faults/admin"
)

// entryWait is how long a partner may take to notice that a call is over.
const entryWait = 600 * time.Millisecond

// recordOf asks for the newest record of one request. Nth cannot be 0 where a
// connection was made, since the request on it has a number.
func recordOf(local netip.AddrPort, nth int) faults.Query {
	return faults.Query{Remote: local, Nth: max(1, nth), Limit: 1}
}

// ownLedger is the ledger of a partner in this process.
type ownLedger struct{ partner *faults.Partner }

func (l ownLedger) listeners(context.Context) ([]faults.Listener, error) {
	return l.partner.Listeners(), nil
}

func (l ownLedger) find(ctx context.Context, local netip.AddrPort, nth int) ([]faults.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, entryWait)
	defer cancel()
	return l.partner.Ledger().Wait(ctx, recordOf(local, nth)), nil
}

// adminLedger is the ledger of a partner behind its admin port.
type adminLedger struct{ client *admin.Client }

func (l adminLedger) listeners(ctx context.Context) ([]faults.Listener, error) {
	listeners, err := l.client.Listeners(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", ledgerWait)
	}
	return listeners, err
}

func (l adminLedger) find(ctx context.Context, local netip.AddrPort, nth int) ([]faults.Entry, error) {
	return l.client.Ledger(ctx, recordOf(local, nth), entryWait)
}
