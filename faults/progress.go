package faults

// taking is how far the client has taken what is being written to it. It is the
// sweeper's alone.
type taking struct {
	at     int64  // when the client was last seen to take something, or the write began
	looked int64  // when that was last looked for
	bytes  uint64 // what it had taken by then
}

// maxAnswerTime bounds a whole answer from its first byte on, however steadily
// it is taken. What takes its time by itself is over by then.
const maxAnswerTime = MaxDelay

// looksPerBound is how often a slow write is looked at before it is given up.
const looksPerBound = 16

// isStuck says whether the write that began at time began is to be given up:
// the client has taken nothing for too long, or the whole answer takes too long.
func (c *conn) isStuck(now, began int64) bool {
	if first := c.answering.Load(); first != 0 && now-first > int64(maxAnswerTime) {
		return true
	}
	t, bound := &c.took, int64(c.p.cfg.WriteTimeout)
	if began > t.at {
		*t = taking{at: began, looked: now, bytes: c.taken()}
		return false
	}
	if now-t.looked >= bound/looksPerBound || now-t.at > bound {
		t.looked = now
		if n := c.taken(); n > t.bytes {
			t.at, t.bytes = now, n
		}
	}
	return now-t.at > bound
}
