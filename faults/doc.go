// Package faults is a partner that misbehaves on purpose, exactly as asked, and
// keeps a ledger of what really happened to it.
//
//	slow, err := faults.Parse("slow:delay=300ms")
//	…
//	p, err := faults.Start(faults.Config{
//		Listeners: []faults.ListenerConfig{{Listen: "127.0.0.1:0", Faults: []faults.Spec{slow}}},
//	})
//	…
//	defer p.Close(ctx)
//	url := p.Listeners()[0].URL
//	…
//	for _, e := range p.Ledger().Entries(faults.Query{}) { … }
//
// Each fault is one file and one line in All; others can be added from outside
// (see Custom and Modes). The server under them is its own and not net/http: it
// decides over every byte and every end of a connection, and a connection on
// which nothing is to happen costs it no goroutine and no buffer.
//
// Where a client breaks HTTP it is answered as RFC 9112 asks: another major version
// with 505 (2.3), and a request that says by Content-Length and by
// Transfer-Encoding how long it is by the latter, after which the connection is
// closed (6.1).
//
// A client that closes its sending side has left, as far as the partner is
// concerned: on the wire the two cannot be told apart. Its connection is closed
// at once, also where the fault works on for it; such work keeps its place among
// the connections that there may be, and its request's entry is final, and in the
// streams, once it is over.
//
// Linux is whole. Elsewhere refused and connect-timeout cannot be had, a hung
// connection costs a goroutine, a RST may overtake the last bytes before it, and
// silent and slow-read do not notice that a client has left before hold is over.
//
// It leaves out HTTP/2, where what happens to a connection happens to many
// requests at once; proxying, since what passes through shares the faults of
// what is behind; and any judgement: it says what happened to it, not whether
// the caller was right.
package faults
