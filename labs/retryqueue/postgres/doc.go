// Package postgres is the retry queue's store in PostgreSQL, for when one machine
// is not enough: workers anywhere share it, each taking what no other has locked
// (FOR UPDATE SKIP LOCKED).
//
//	store, err := postgres.Open(ctx, "postgres://user@host/db", postgres.Options{Create: true})
//
// Everything is in one schema ("retryqueue" unless told otherwise). Commits are
// as durable as the server is told to make them (synchronous_commit). A Take
// settles, claims and counts in one statement, and the Takes of workers of one
// process that come while another is under way go together.
//
// Versions: PostgreSQL 12 (MATERIALIZED).
//
// It leaves out LISTEN/NOTIFY (workers poll) and reading the server's clock (time
// comes in as an argument, as everywhere in the queue).
package postgres
