package budgetcaller

import (
	"strings"
	"testing"
	"time"
)

// MaxHeadBytes is where a head is too long, all 1xx before it included.
func TestBugMaxHeadBytes(t *testing.T) {
	t.Parallel()
	const most = 10000
	head := func(bytes int) string {
		frame := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: \r\n\r\n"
		return strings.Replace(frame, "X: ", "X: "+strings.Repeat("x", bytes-len(frame)), 1)
	}
	early := "HTTP/1.1 103 X\r\n\r\n"
	for _, tt := range []struct {
		name, answer string
		ok           bool
	}{
		{"small", head(100), true},
		{"just within", head(most), true},
		{"one too many", head(most + 1), false},
		{"just within, with 1xx", early + early + head(most-2*len(early)), true},
		{"one too many, with 1xx", early + early + head(most-2*len(early)+1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) { p.answers(tt.answer) })
			c := newCaller(t, Config{MaxHeadBytes: most, Limits: Limits{Read: 2 * time.Second}})
			for range 3 { // the bound is counted afresh for each request
				rec := once(t, c, 5*time.Second, get(t, w.url("/")))
				if (rec.Class == ClassOK) != tt.ok || (!tt.ok && rec.Class != ClassMalformed) {
					t.Errorf("head of %d bytes, bound %d: %v (%v), want ok: %v", len(tt.answer), most, rec.Class, rec.Err, tt.ok)
				}
			}
		})
	}
}

// The bound is the head's: body bytes that came in the same read do not count,
// and an answer on a used connection is not blamed for the one before it.
func TestBugMaxHeadBytesAndBody(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 160, 161, 3000, 100000} {
		w := serve(t, func(p *peer) { p.answers(answer(strings.Repeat("x", size))) })
		c := newCaller(t, Config{MaxHeadBytes: 200})
		for i := range 3 {
			rec := once(t, c, 5*time.Second, get(t, w.url("/")))
			if rec.Class != ClassOK || rec.Bytes != int64(size) {
				t.Errorf("call %d, body of %d bytes: %v, %d bytes (%v)", i+1, size, rec.Class, rec.Bytes, rec.Err)
			}
		}
	}
}

// An endless head ends as such, not as the body that a cut line seems to begin.
func TestBugEndlessHeaders(t *testing.T) {
	t.Parallel()
	for _, most := range []int64{10000, 10001, 10002, 10003, 10004, 10005} { // every place of a line
		w := serve(t, func(p *peer) {
			p.request()
			p.send("HTTP/1.1 200 OK\r\n")
			for p.send(strings.Repeat("X: y\r\n", 10000)) {
			}
		})
		rec := once(t, newCaller(t, Config{MaxHeadBytes: most}), 5*time.Second, get(t, w.url("/")))
		want{class: ClassMalformed, phases: in(PhaseHead), effects: unknown(), expected: -1}.check(t, rec)
	}
}

// A reset inside a header is a reset, wherever in its line.
func TestBugResetInHeader(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"HTTP/1.1 20", "HTTP/1.1 200 OK\r\nCont", "HTTP/1.1 200 OK\r\nX:", "HTTP/1.1 200 OK\r\nX: y", "HTTP/1.1 200 OK\r\nX: y\r\n"} {
		w := serve(t, func(p *peer) {
			p.request()
			p.send(said)
			time.Sleep(5 * ms) // the client has read it and waits for more
			p.reset()
		})
		c := newCaller(t, Config{})
		for range 5 {
			rec := once(t, c, 5*time.Second, get(t, w.url("/")))
			if rec.Class != ClassReset || rec.Phase != PhaseHead {
				t.Errorf("after %q: %v in %v (%v), want reset in head", said, rec.Class, rec.Phase, rec.Err)
			}
		}
	}
}

// Two goroutines note phases, so a mark may be later than that of the phase
// after it. The durations still add up to the attempt's.
func TestBugPhaseTimesOverlap(t *testing.T) {
	t.Parallel()
	a := attempt{underway: underway{rec: new(Record)}}
	for p, at := range map[Phase]int64{PhaseRequest: 10, PhaseFirstByte: 50, PhaseHead: 40} {
		a.marks[p].Store(at)
	}
	a.phaseTimes(PhaseHead, 100)
	var sum time.Duration
	for _, p := range Phases() {
		took, _ := a.rec.Phases.Took(p)
		sum += took
	}
	if sum != 90 {
		t.Errorf("the phases add up to %d of 90: %+v", sum, a.rec.Phases)
	}
}
