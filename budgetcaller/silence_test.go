package budgetcaller

import (
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// TestSilence: the partner stops speaking, or speaks slowly, and a limit ends
// it or rightly does not.
func TestSilence(t *testing.T) {
	t.Parallel()
	head := "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
	for _, tt := range []struct {
		name   string
		script func(*peer)
		limits Limits
		budget time.Duration
		want   want
	}{
		{
			"no first byte", thenHold,
			Limits{Read: 200 * ms},
			5 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseFirstByte), effects: unknown(), expected: -1, least: 200 * ms},
		},
		{
			"no first byte, budget", thenHold,
			Limits{},
			200 * ms,
			want{class: ClassBudgetExhausted, limit: LimitBudget, phases: in(PhaseFirstByte), effects: unknown(), expected: -1, least: 199 * ms},
		},
		{
			"no first byte, attempt", thenHold,
			Limits{Attempt: 200 * ms},
			5 * time.Second,
			want{class: ClassAttemptTimeout, limit: LimitAttempt, phases: in(PhaseFirstByte), effects: unknown(), expected: -1, least: 200 * ms},
		},
		{
			"no first byte, attempt ties with read", thenHold,
			Limits{Attempt: 200 * ms, Read: 200 * ms},
			5 * time.Second,
			want{class: ClassAttemptTimeout, limit: LimitAttempt, phases: in(PhaseFirstByte), effects: unknown(), expected: -1, least: 200 * ms},
		},
		{
			"no first byte, budget ties with read and attempt", thenHold,
			Limits{Attempt: 200 * ms, Read: 200 * ms},
			200 * ms,
			want{class: ClassBudgetExhausted, limit: LimitBudget, phases: in(PhaseFirstByte), effects: unknown(), expected: -1, least: 199 * ms},
		},
		{
			"silence in the head", func(p *peer) { p.send("HTTP/1.1 200 OK\r\nX: "); p.hold() },
			Limits{Read: 200 * ms},
			5 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseHead), effects: unknown(), expected: -1, least: 200 * ms},
		},
		{
			"garbage without a newline, then silence", func(p *peer) { p.send("hello"); p.hold() },
			Limits{Read: 200 * ms},
			5 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseHead), effects: unknown(), expected: -1, least: 200 * ms},
		},
		{
			"silence after a 1xx", func(p *peer) { p.send("HTTP/1.1 103 X\r\n\r\n"); p.hold() },
			Limits{Read: 200 * ms},
			5 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseHead), effects: unknown(), expected: -1, least: 200 * ms},
		},
		{
			"silence after the head", func(p *peer) { p.send(head); p.hold() },
			Limits{Read: 200 * ms},
			5 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseBody), effects: unknown(), status: 200, expected: 100, least: 200 * ms},
		},
		{
			"silence in a chunked body", func(p *peer) { p.send(chunkedHead + "3\r\nabc\r\n"); p.hold() },
			Limits{Read: 200 * ms},
			5 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseBody), effects: unknown(), status: 200, bytes: 3, expected: -1, least: 200 * ms},
		},
		{
			"silence before the end of a close-delimited body", func(p *peer) { p.send("HTTP/1.1 200 OK\r\n\r\nabc"); p.hold() },
			Limits{Read: 200 * ms},
			5 * time.Second,
			want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseBody), effects: unknown(), status: 200, bytes: 3, expected: -1, least: 200 * ms},
		},
		{
			"silence in the body, attempt", func(p *peer) { p.send(half()); p.hold() },
			Limits{Attempt: 200 * ms},
			5 * time.Second,
			want{class: ClassAttemptTimeout, limit: LimitAttempt, phases: in(PhaseBody), effects: unknown(), status: 200, bytes: 50, expected: 100, least: 200 * ms},
		},
		{
			// 40 bytes, 20 ms apart, under a read limit that is a quarter of it.
			"dripped head", func(p *peer) { p.drip("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 30*ms); p.hold() },
			Limits{Read: 400 * ms},
			20 * time.Second,
			want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, least: 37 * 30 * ms, most: 5 * time.Second},
		},
		{
			"dripped head, budget", func(p *peer) { p.drip("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 500), 30*ms) },
			Limits{Read: 400 * ms},
			700 * ms,
			want{class: ClassBudgetExhausted, limit: LimitBudget, phases: in(PhaseHead), effects: unknown(), expected: -1, least: 699 * ms},
		},
		{
			"endless 1xx, slowly", func(p *peer) {
				for p.send("HTTP/1.1 102 Processing\r\n\r\n") {
					time.Sleep(50 * ms)
				}
			},
			Limits{Read: 400 * ms, Attempt: 800 * ms},
			5 * time.Second,
			want{class: ClassAttemptTimeout, limit: LimitAttempt, phases: in(PhaseHead), effects: unknown(), expected: -1, least: 800 * ms},
		},
		{
			// F9: a limit for the whole head would cut this one.
			"30 x 102, then 200", func(p *peer) {
				for range 30 {
					p.send("HTTP/1.1 102 Processing\r\n\r\n")
					time.Sleep(30 * ms)
				}
				p.send(answer("hi"))
				p.hold()
			},
			Limits{Read: 400 * ms},
			5 * time.Second,
			want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: 2, expected: 2, least: 900 * ms, most: 2 * time.Second},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) {
				if p.request() != nil {
					tt.script(p)
				}
			})
			rec := once(t, newCaller(t, Config{Limits: tt.limits}), tt.budget, get(t, w.url("/")))
			tt.want.check(t, rec)
		})
	}
}

// C1: the read limit is the longest silence, not the total.
func TestC1ReadLimitIsNotTheTotal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		every       time.Duration
		budget      time.Duration
		class       Class
		limit       Limit
		fewest      int64
		mostBytes   int64
		least, most time.Duration
	}{
		{"a: within it", 100 * ms, 20 * time.Second, ClassOK, LimitNone, 40, 40, 3900 * ms, 4200 * ms},
		{"b: budget", 100 * ms, 1200 * ms, ClassBudgetExhausted, LimitBudget, 1, 13, 1199 * ms, 1200 * ms},
		{"c: beyond it", 500 * ms, 5 * time.Second, ClassReadTimeout, LimitRead, 1, 1, 300 * ms, 300 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const read = 300 * ms
			gaps := make(chan time.Duration, 10)
			w := serve(t, func(p *peer) {
				if p.request() != nil {
					p.send("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n")
					gaps <- p.drip(strings.Repeat("x", 40), tt.every)
					p.hold()
				}
			})
			c := newCaller(t, Config{Limits: Limits{Connect: time.Second, Read: read}})
			var rec Record
			for range 5 {
				rec = once(t, c, tt.budget, get(t, w.url("/")))
				// A partner that the machine kept from sending was silent indeed.
				if gap := <-gaps; rec.Class == tt.class || tt.every >= read || gap < read-20*ms {
					break
				}
			}
			want{
				class: tt.class, limit: tt.limit, phases: in(PhaseBody), status: 200,
				bytes: rec.Bytes, expected: 40, least: tt.least, most: tt.most,
			}.check(t, rec)
			if rec.Bytes < tt.fewest || rec.Bytes > tt.mostBytes {
				t.Errorf("%d bytes, want from %d to %d", rec.Bytes, tt.fewest, tt.mostBytes)
			}
		})
	}
}

// C7: silence in the middle of the body is bounded like any other.
func TestC7SilenceInTheBody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		read, budget time.Duration
		class        Class
		limit        Limit
		least        time.Duration
	}{
		{"a: read limit", 400 * ms, 5 * time.Second, ClassReadTimeout, LimitRead, 400 * ms},
		{"b: budget", 5 * time.Second, time.Second, ClassBudgetExhausted, LimitBudget, 999 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) {
				if p.request() != nil {
					p.send(half())
					p.hold()
				}
			})
			began := time.Now()
			rec := once(t, newCaller(t, Config{Limits: Limits{Read: tt.read}}), tt.budget, get(t, w.url("/")))
			want{
				class: tt.class, limit: tt.limit, phases: in(PhaseBody), effects: unknown(),
				status: 200, bytes: 50, expected: 100, least: tt.least,
			}.check(t, rec)
			least := tt.least
			if tt.limit == LimitBudget {
				least -= 100*ms + machine.Room(began) // it counts what comes before the body too
			}
			if took, _ := rec.Phases.Took(PhaseBody); took > rec.Elapsed || took < least {
				t.Errorf("body took %v of %v, want %v", took, rec.Elapsed, least)
			}
		})
	}
}
