// Package sqlite is the retry queue's store in one SQLite file, the default: no
// server, and a driver in pure Go. Several processes may share the file on one
// machine; not over a network file system.
//
//	store, err := sqlite.Open(ctx, "queue.db", sqlite.Options{Create: true})
//
// The journal is a WAL and synchronous is FULL unless Options says otherwise:
// with NORMAL a loss of power can undo the last claims, which gives attempts
// back. A process has one writing connection; who must wait for another process
// asks again after a random 0 to 1 ms, because SQLite's own waiting can starve
// one of them. Every transaction that writes takes the lock when it begins.
//
// It leaves out sharing across machines: package postgres does that.
package sqlite
