package budgetcaller

import (
	"encoding"
	"sync"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	t.Parallel()
	check := func(kind string, n uint8, name func(uint8) string, text func(uint8) encoding.TextMarshaler, parse func(string) (uint8, error)) {
		seen := map[string]bool{}
		for v := range n {
			word := name(v)
			if word == "" || seen[word] {
				t.Errorf("%s(%d): word %q is empty or used twice", kind, v, word)
			}
			seen[word] = true
			raw, err := text(v).MarshalText()
			if err != nil || string(raw) != word {
				t.Errorf("%s(%d): text %q, %v; want %q", kind, v, raw, err, word)
			}
			if back, err := parse(word); err != nil || back != v {
				t.Errorf("%s %q: parsed as %d, %v; want %d", kind, word, back, err, v)
			}
		}
		for _, v := range []uint8{n, 200, 255} {
			if got, want := name(v), kind+"("+itoa(int(v))+")"; got != want {
				t.Errorf("%s beyond the last: %q, want %q", kind, got, want)
			}
		}
		for _, word := range []string{"", "OK", "nonsense", kind + "(99)"} {
			if v, err := parse(word); err == nil || v != 0 {
				t.Errorf("%s %q: parsed as %d, want an error", kind, word, v)
			}
		}
	}
	check("class", uint8(classCount), func(v uint8) string { return Class(v).String() },
		func(v uint8) encoding.TextMarshaler { return Class(v) },
		func(s string) (uint8, error) { c, err := ParseClass(s); return uint8(c), err })
	check("phase", uint8(phaseCount), func(v uint8) string { return Phase(v).String() },
		func(v uint8) encoding.TextMarshaler { return Phase(v) },
		func(s string) (uint8, error) { var p Phase; err := p.UnmarshalText([]byte(s)); return uint8(p), err })
	check("limit", uint8(LimitKernel)+1, func(v uint8) string { return Limit(v).String() },
		func(v uint8) encoding.TextMarshaler { return Limit(v) },
		func(s string) (uint8, error) { var l Limit; err := l.UnmarshalText([]byte(s)); return uint8(l), err })
	check("effect", uint8(EffectUnknown)+1, func(v uint8) string { return Effect(v).String() },
		func(v uint8) encoding.TextMarshaler { return Effect(v) },
		func(s string) (uint8, error) { var e Effect; err := e.UnmarshalText([]byte(s)); return uint8(e), err })
}

func TestClassesAndPhases(t *testing.T) {
	t.Parallel()
	infos := Classes()
	if len(infos) != int(classCount)-1 {
		t.Errorf("%d classes are explained, there are %d", len(infos), classCount-1)
	}
	for i, info := range infos {
		if info.Class != Class(i+1) || info.When == "" || info.Effect == "" || info.Do == "" {
			t.Errorf("explanation %d: %+v, want all of %v", i, info, Class(i+1))
		}
	}
	infos[0].When = "changed" // the slice is the caller's own
	if Classes()[0].When == "changed" {
		t.Error("Classes gives away its own slice")
	}
	if p := Phases(); len(p) != int(phaseCount)-1 || p[0] != PhasePool || p[len(p)-1] != PhaseBackoff {
		t.Errorf("phases %v", p)
	}
}

// TestEffect: the effect of every class, with and without a byte sent.
func TestEffect(t *testing.T) {
	t.Parallel()
	maybe := map[Class]bool{
		ClassRequestTimeout: true, ClassReadTimeout: true, ClassClosed: true, ClassTruncated: true, ClassMalformed: true,
		ClassReset: true, ClassAttemptTimeout: true, ClassBudgetExhausted: true, ClassCanceled: true,
	}
	for c := ClassOK; c < classCount; c++ {
		for _, sent := range []bool{false, true} {
			want := EffectNone
			switch {
			case c == ClassOK || c == ClassStatus:
				want = EffectAnswered
			case maybe[c] && sent:
				want = EffectUnknown
			}
			if got := c.effect(sent, 500); got != want {
				t.Errorf("%v, sent %v: effect %v, want %v", c, sent, got, want)
			}
		}
	}
	for status, want := range map[int]Effect{400: EffectAnswered, 500: EffectAnswered, 502: EffectUnknown, 503: EffectAnswered, 504: EffectUnknown} {
		if got := ClassStatus.effect(true, status); got != want {
			t.Errorf("status %d: effect %v, want %v", status, got, want)
		}
	}
	if EffectNone >= EffectAnswered || EffectAnswered >= EffectUnknown {
		t.Error("the effects are not in order of how much they worry")
	}
}

// TestNearest: which limit ends first in which phase, and who wins a tie.
func TestNearest(t *testing.T) {
	t.Parallel()
	const no = never
	for _, tt := range []struct {
		name                           string
		phase                          Phase
		budget, attempt, pool, connect int64
		silence                        int64
		at                             int64
		limit                          Limit
	}{
		{"none at all", PhaseBody, no, no, no, no, no, no, LimitNone},
		{"budget alone", PhaseBody, 5, no, no, no, no, 5, LimitBudget},
		{"attempt before budget", PhaseBody, 5, 4, no, no, no, 4, LimitAttempt},
		{"read before both", PhaseBody, 5, 4, no, no, 3, 3, LimitRead},
		{"read is after all", PhaseBody, 5, 4, no, no, 9, 4, LimitAttempt},
		{"tie of all", PhaseBody, 5, 5, 5, 5, 5, 5, LimitBudget},
		{"tie of attempt and read", PhaseBody, 9, 5, no, no, 5, 5, LimitAttempt},
		{"tie of budget and read", PhaseFirstByte, 5, no, no, no, 5, 5, LimitBudget},
		{"tie of budget and connect", PhaseConnect, 5, no, no, 5, no, 5, LimitBudget},
		{"tie of budget and attempt", PhaseConnect, 5, 5, no, no, no, 5, LimitBudget},
		{"tie of attempt and pool", PhasePool, 9, 5, 5, no, no, 5, LimitAttempt},
		{"pool", PhasePool, 9, no, 4, 3, 2, 4, LimitPool},
		{"connect in the lookup", PhaseLookup, 9, no, 2, 4, 3, 4, LimitConnect},
		{"connect in the connect", PhaseConnect, 9, no, 2, 4, 3, 4, LimitConnect},
		{"connect in the handshake", PhaseTLS, 9, no, 2, 4, 3, 4, LimitConnect},
		{"read in the request", PhaseRequest, 9, no, 2, 3, 4, 4, LimitRead},
		{"read in the first byte", PhaseFirstByte, 9, no, 2, 3, 4, 4, LimitRead},
		{"read in the head", PhaseHead, 9, no, 2, 3, 4, 4, LimitRead},
		{"only the outer ones in the backoff", PhaseBackoff, 9, 8, 2, 3, 4, 8, LimitAttempt},
		{"already over", PhaseBody, 0, no, no, no, no, 0, LimitBudget},
		{"over long ago", PhaseBody, -5, no, no, no, no, -5, LimitBudget},
	} {
		s := span{budget: tt.budget, attempt: tt.attempt, pool: tt.pool, connect: tt.connect}
		if at, limit := s.nearest(tt.phase, tt.silence); at != tt.at || limit != tt.limit {
			t.Errorf("%s: %v at %d, want %v at %d", tt.name, limit, at, tt.limit, tt.at)
		}
	}
	for _, tt := range []struct {
		at   int64
		d    time.Duration
		want int64
	}{{0, NoLimit, never}, {5, NoLimit, never}, {5, 3, 8}, {never - 2, 3, never}, {never - 3, 3, never}, {never - 4, 3, never - 1}, {never, 1, never}} {
		if got := after(tt.at, tt.d); got != tt.want {
			t.Errorf("after(%d, %d) = %d, want %d", tt.at, int64(tt.d), got, tt.want)
		}
	}
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit Limit
		phase Phase
		want  Class
	}{
		{LimitBudget, PhaseConnect, ClassBudgetExhausted},
		{LimitAttempt, PhaseTLS, ClassAttemptTimeout},
		{LimitPool, PhasePool, ClassPoolTimeout},
		{LimitConnect, PhaseLookup, ClassConnectTimeout},
		{LimitConnect, PhaseConnect, ClassConnectTimeout},
		{LimitConnect, PhaseTLS, ClassTLSTimeout},
		{LimitRead, PhaseRequest, ClassRequestTimeout},
		{LimitRead, PhaseFirstByte, ClassReadTimeout},
		{LimitRead, PhaseBody, ClassReadTimeout},
		{LimitNone, PhaseBody, ClassNone},
	} {
		if got := classOf(tt.limit, tt.phase); got != tt.want {
			t.Errorf("classOf(%v, %v) = %v, want %v", tt.limit, tt.phase, got, tt.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	var v verdict
	if o := v.load(); o.decided() || o.phase != PhaseNone {
		t.Errorf("zero value: %+v", o)
	}
	if !v.enter(PhaseConnect) || v.enter(PhaseConnect) || v.enter(PhaseLookup) || v.load().phase != PhaseConnect {
		t.Errorf("a phase is entered once, and never left backwards: %+v", v.load())
	}
	stale := v.load()
	v.enter(PhaseRequest)
	if v.decideFrom(stale, ClassConnectTimeout, LimitConnect) {
		t.Error("decided from a phase that is past")
	}
	if !v.restart() || v.load().phase != PhasePool || !v.enter(PhaseBody) {
		t.Errorf("restart: %+v", v.load())
	}
	if !v.decide(ClassReadTimeout, LimitRead) || v.decide(ClassOK, LimitNone) || v.enter(PhaseBackoff) || v.restart() {
		t.Error("changed after it was decided")
	}
	if o := v.load(); o != (outcome{PhaseBody, ClassReadTimeout, LimitRead}) {
		t.Errorf("outcome %+v", o)
	}
	// Every outcome survives packing.
	for p := range phaseCount {
		for c := range classCount {
			for l := LimitNone; l <= LimitKernel; l++ {
				o := outcome{p, c, l}
				var w verdict
				w.word.Store(o.pack())
				if w.load() != o {
					t.Fatalf("%+v came back as %+v", o, w.load())
				}
			}
		}
	}
}

// Of many who decide at once exactly one wins, and the phase that stands is the
// one it saw.
func TestVerdictRace(t *testing.T) {
	t.Parallel()
	for range 200 {
		var v verdict
		v.enter(PhasePool)
		wins := make(chan Class, 8)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if i%2 == 0 {
					v.enter(PhasePool + Phase(i))
				}
				if c := ClassOK + Class(i); v.decide(c, LimitNone) {
					wins <- c
				}
			})
		}
		wg.Wait()
		if len(wins) != 1 || v.load().class != <-wins {
			t.Fatalf("%d winners, outcome %+v", len(wins)+1, v.load())
		}
	}
}

func TestPhaseTimes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		marks map[Phase]int64
		last  Phase
		end   int64
		want  map[Phase]time.Duration
	}{
		{
			"all of them",
			map[Phase]int64{PhasePool: 1, PhaseLookup: 2, PhaseConnect: 4, PhaseTLS: 8, PhaseRequest: 16, PhaseFirstByte: 32, PhaseHead: 64, PhaseBody: 128},
			PhaseBody, 256,
			map[Phase]time.Duration{PhasePool: 1, PhaseLookup: 2, PhaseConnect: 4, PhaseTLS: 8, PhaseRequest: 16, PhaseFirstByte: 32, PhaseHead: 64, PhaseBody: 128},
		},
		{"early answer: no first_byte", map[Phase]int64{PhaseRequest: 10, PhaseHead: 30}, PhaseHead, 100, map[Phase]time.Duration{PhaseRequest: 20, PhaseHead: 70}},
		{"cut before the mark was set", map[Phase]int64{PhaseLookup: 10}, PhaseConnect, 100, map[Phase]time.Duration{PhaseLookup: 90, PhaseConnect: 0}},
		{"marks after the last phase do not count", map[Phase]int64{PhaseRequest: 10, PhaseBody: 50}, PhaseRequest, 100, map[Phase]time.Duration{PhaseRequest: 90}},
		{"none", nil, PhaseNone, 100, map[Phase]time.Duration{}},
	} {
		a := attempt{underway: underway{rec: new(Record)}}
		for p, at := range tt.marks {
			a.marks[p].Store(at)
		}
		a.phaseTimes(tt.last, tt.end)
		for p := PhaseNone; p <= phaseCount; p++ {
			took, reached := a.rec.Phases.Took(p)
			want, wanted := tt.want[p]
			if took != want || reached != wanted {
				t.Errorf("%s: %v took %v (reached %v), want %v (%v)", tt.name, p, took, reached, want, wanted)
			}
		}
	}
	if _, reached := (PhaseTimes{}).Took(200); reached {
		t.Error("a phase that does not exist was reached")
	}
}
