// Package faults is a partner that misbehaves on purpose, exactly as asked, and
// keeps a ledger of what really happened to it.
package faults
