package faults

import (
	"net/netip"
	"time"
)

// LedgerSchema names the form of an Entry in JSON.
const LedgerSchema = "partner.ledger/1"

// Entry is the partner's own account of one connection or one request, as it
// stood when it was asked for. Points in time are Unix milliseconds and
// durations milliseconds, both with fractions.
type Entry struct {
	Schema   string `json:"schema"`
	Kind     string `json:"kind"` // connection or request
	Seq      uint64 `json:"seq"`  // order of beginning, over the whole partner
	Listener string `json:"listener"`
	Mode     string `json:"mode"`   // the fault that was applied
	Conn     uint64 `json:"conn"`   // number of the connection
	Nth      int    `json:"nth"`    // request: its number on the connection, from 1; connection: how many came
	Number   uint64 `json:"number"` // request: its number on the listener, which decides what it gets
	Remote   string `json:"remote"` // the client's IP:PORT

	AcceptedAt float64 `json:"accepted_at_ms"`           // when the connection was accepted
	BegunAt    float64 `json:"begun_at_ms"`              // first byte of the request
	WholeAt    float64 `json:"whole_at_ms,omitempty"`    // the request had been read to its end
	EndedAt    float64 `json:"ended_at_ms,omitempty"`    // 0: still going on
	FirstWrite float64 `json:"first_write_ms,omitempty"` // from the request whole to the first byte of the answer
	// Elapsed runs from accept for the first request of a connection and from
	// its first byte for each later one, until it ended.
	Elapsed float64 `json:"elapsed_ms"`

	EndedBy string  `json:"ended_by,omitempty"` // client or partner; empty while it goes on
	How     string  `json:"how,omitempty"`      // see Outcomes
	Status  int     `json:"status,omitempty"`   // of the answer, if a head was sent
	Bytes   int64   `json:"bytes"`              // of the answer's body
	Sent    int64   `json:"sent"`               // all bytes written
	Body    int64   `json:"request_bytes"`      // of the request's body
	Asked   float64 `json:"asked_ms"`           // the delay that was asked for
	Delay   float64 `json:"delivered_ms"`       // the delay that was delivered
	Waited  float64 `json:"waited_ms"`          // in line, before the work began or was given up
	Worked  float64 `json:"worked_ms"`          // whether or not anybody waited for it

	Effect    bool   `json:"effect"`              // the effect took place
	EffectID  uint64 `json:"effect_id,omitempty"` // which one
	Duplicate bool   `json:"duplicate"`           // the same Idempotency-Key had had its effect before
	Key       string `json:"idempotency_key,omitempty"`
	// Orphaned is work started after the client had gone, OrphanedOverlap all
	// work done after it.
	Orphaned        float64 `json:"orphaned_ms"`
	OrphanedOverlap float64 `json:"orphaned_overlap_ms"`

	Method  string `json:"method,omitempty"`
	Path    string `json:"path,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // X-Request-Attempt, if it was sent
	// TimeoutSent and DeadlineSent tell a zero, which says that the deadline is
	// already over, from a header that was not sent. What was sent twice, or is no
	// whole number of at most 15 digits, counts as not sent.
	TimeoutMS    float64 `json:"timeout_ms,omitempty"` // X-Request-Timeout-Ms
	TimeoutSent  bool    `json:"timeout_sent,omitempty"`
	DeadlineMS   float64 `json:"deadline_ms,omitempty"` // X-Request-Deadline
	DeadlineSent bool    `json:"deadline_sent,omitempty"`

	Writes      []Write `json:"writes,omitempty"` // the first of them, see WritesTotal
	WritesTotal int     `json:"writes_total"`
}

// Write is one write to the connection, told from when the request was whole.
type Write struct {
	At    float64 `json:"at_ms"`
	Bytes int     `json:"bytes"`
}

// Ended says whether the connection or request is over.
func (e Entry) Ended() bool { return e.EndedBy != "" }

// maxWrites is how many writes of one request an entry remembers.
const maxWrites = 128

// outcome is how a connection or request ended.
type outcome uint8

const (
	notEnded   outcome = iota
	answered           // the answer the fault meant went out whole
	closed             // an orderly end without a whole answer
	reset              // a RST
	truncated          // an orderly end inside the answer
	malformed          // bytes that are not HTTP were sent
	expired            // the longest time it may be held was over
	idle               // nothing was said for too long
	badRequest         // what came was no request or broke a bound; answered with a 4xx or 5xx
	tlsFailed          // the TLS handshake did not succeed
	writeStuck         // the client took no bytes for too long, or not all in an hour
	overfull           // too many connections were open
	stopped            // the partner was shut down
	outcomes           // how many there are
)

// Outcomes returns the words of Entry.How.
func Outcomes() []string {
	return []string{
		"", "answered", "closed", "reset", "truncated", "malformed", "held", "idle",
		"bad_request", "tls_failed", "write_stuck", "overfull", "stopped",
	}
}

func (o outcome) String() string { return Outcomes()[o] }

// entry is an Entry in the making: small, since ten thousand are held at once.
// Who serves a request fills one of its own and publishes copies of it. Times
// are nanoseconds since the partner's start.
type entry struct {
	seq      uint64
	conn     uint64
	number   uint64
	listener *listener
	mode     int16 // index in All
	remote   netip.AddrPort

	accepted, begun, whole, ended, firstWrite int64
	asked, delivered                          int64
	bytes, sent, body                         int64
	orphaned, overlap, waited, worked         int64

	key, method, path   string
	effectID            uint64
	timeoutMS, deadline int64
	attempt             int32
	nth                 int32
	writesTotal         int32
	status              int16
	isRequest           bool
	final               bool // nothing of it will change any more
	byClient            bool
	how                 outcome
	effect, duplicate   bool
	hasTimeout          bool
	hasDeadline         bool

	first [2]write // spares the slice for the usual few
	more  []write  // appended to, never changed: copies may share it
}

type write struct {
	at    int64
	bytes int32
}

// noteWrite remembers a write at time at.
func (e *entry) noteWrite(at int64, n int) {
	i := int(e.writesTotal)
	e.writesTotal++
	e.sent += int64(n)
	switch {
	case i < len(e.first):
		e.first[i] = write{at, int32(n)}
	case i < maxWrites:
		e.more = append(e.more, write{at, int32(n)})
	}
}

func ms(ns int64) float64 { return float64(ns/1000) / 1000 }

// export copies e, with the times counted from base.
func (e *entry) export(base time.Time) Entry {
	unix := func(ns int64) float64 {
		if ns == 0 {
			return 0
		}
		return float64(base.Add(time.Duration(ns)).UnixMicro()) / 1000
	}
	out := Entry{
		Schema: LedgerSchema, Kind: "connection", Seq: e.seq, Listener: e.listener.name, Mode: e.listener.p.modes[e.mode],
		Conn: e.conn, Nth: int(e.nth), Number: e.number, Remote: e.remote.String(),
		AcceptedAt: unix(e.accepted), BegunAt: unix(e.begun), WholeAt: unix(e.whole), EndedAt: unix(e.ended),
		Status: int(e.status), Bytes: e.bytes, Sent: e.sent, Body: e.body,
		Asked: ms(e.asked), Delay: ms(e.delivered),
		Effect: e.effect, EffectID: e.effectID, Duplicate: e.duplicate, Key: e.key,
		Waited: ms(e.waited), Worked: ms(e.worked), Orphaned: ms(e.orphaned), OrphanedOverlap: ms(e.overlap),
		Method: e.method, Path: e.path, Attempt: int(e.attempt), TimeoutMS: float64(e.timeoutMS), DeadlineMS: float64(e.deadline),
		TimeoutSent: e.hasTimeout, DeadlineSent: e.hasDeadline,
		WritesTotal: int(e.writesTotal), How: e.how.String(),
	}
	if e.isRequest {
		out.Kind = "request"
	}
	if e.firstWrite != 0 {
		out.FirstWrite = ms(e.firstWrite - e.whole)
	}
	if e.ended != 0 {
		out.EndedBy = "partner"
		if e.byClient {
			out.EndedBy = "client"
		}
		from := e.begun
		if !e.isRequest || e.nth == 1 {
			from = e.accepted
		}
		out.Elapsed = ms(e.ended - from)
	}
	for i := range min(int(e.writesTotal), maxWrites) {
		w := e.first[min(i, len(e.first)-1)]
		if i >= len(e.first) {
			w = e.more[i-len(e.first)]
		}
		out.Writes = append(out.Writes, Write{ms(w.at - e.whole), int(w.bytes)})
	}
	return out
}
