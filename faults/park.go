package faults

// parker looks after connections that no goroutine serves: it waits for their
// next byte, drains them, and notices when the client leaves. All its methods
// are called with the connection's lock held.
type parker interface {
	// add begins to watch c in the way that c.watch says.
	add(c *conn) error
	// remove ends it. Nothing is reported for c any more, but a report that is
	// under way may still be waiting for the lock.
	remove(c *conn)
	stop()
}

// watch says what the parker does for a connection.
type watch uint8

const (
	watchNone    watch = iota
	watchIdle          // serve it when a byte or an end comes
	watchKeep          // read, and keep a bounded number of bytes for later requests
	watchDiscard       // read and throw away
	watchEnd           // do not read; notice an end as far as the kernel shows it
)
