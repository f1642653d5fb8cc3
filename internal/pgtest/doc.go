// Package pgtest starts a PostgreSQL server of its own for tests: in a temporary
// folder, on a Unix socket there and no network at all, and stops it.
//
//	shared := &pgtest.Shared{}
//	...
//	url := shared.URL(t) // skips the test, with the reason, if there is no server
//	...
//	shared.Stop() // after m.Run
//
// The server does not wait for the disk (fsync is off): tests kill the queue's
// processes, never the server.
package pgtest
