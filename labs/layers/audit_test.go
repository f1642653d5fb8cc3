package layers

import (
	"strings"
	"testing"
	"time"
)

// layer is one with reasons for all its numbers.
func layer(name string, limit time.Duration, retries int) Layer {
	return Layer{Name: name, Limit: For(limit, "test"), Retries: Count{retries, "test"}}
}

func waiting(l Layer, waits time.Duration) Layer {
	l.Waits = For(waits, "test")
	return l
}

func adopted(l Layer) Layer {
	l.Deadline = Adopted
	return l
}

func mustAudit(t *testing.T, layers ...Layer) Audit {
	t.Helper()
	a, err := Chain{Layers: layers}.Audit()
	if err != nil {
		t.Fatalf("%+v: %v", layers, err)
	}
	return a
}

// The examples of the rule: limit x (retries + 1) + waits is smaller than what
// the layer outside has.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []struct {
		name     string
		layers   []Layer
		verdicts []Verdict
		worst    time.Duration // of the last layer
		over     time.Duration // of the last layer
		why      string        // in that of the last layer
	}{
		{
			"from the browser to the database",
			[]Layer{layer("browser", 30*s, 0), layer("gateway", 10*s, 0), layer("api", 6*s, 0), layer("payment", 3*s, 0), layer("database", s, 0)},
			[]Verdict{Sound, Sound, Sound, Sound, Sound},
			s, 0, "1s of the 3s that payment has for it",
		},
		{
			"three tries of 3 s under a gateway's 10 s",
			[]Layer{layer("gateway", 10*s, 0), layer("api", 3*s, 2)},
			[]Verdict{Sound, Tight},
			9 * s, 0, "3s x 3 tries = 9s of the 10s that gateway has for it",
		},
		{
			"three tries of 3 s under an API's own 6 s",
			[]Layer{layer("api", 6*s, 0), layer("payment", 3*s, 2)},
			[]Verdict{Sound, CannotHold},
			9 * s, 3 * s, "3s x 3 tries = 9s, but api has 6s for it: 3s too long",
		},
		{
			"3 s each: B and C go on after A gave up",
			[]Layer{layer("A", 3*s, 0), layer("B", 3*s, 0), layer("C", 3*s, 0)},
			[]Verdict{Sound, CannotHold, CannotHold},
			3 * s, 0, "3s, and B has no more than that for it: it must be less",
		},
		{
			"a 2 s budget over three tries of 2 s",
			[]Layer{layer("screen", 2*s, 0), waiting(layer("price", 2*s, 2), 300*time.Millisecond)},
			[]Verdict{Sound, CannotHold},
			6300 * time.Millisecond, 4300 * time.Millisecond, "2s x 3 tries + 300ms waits = 6.3s, but screen has 2s for it: 4.3s too long",
		},
		{"80 % is not tight", []Layer{layer("a", 10*s, 0), layer("b", 8*s, 0)}, []Verdict{Sound, Sound}, 8 * s, 0, ""},
		{"just over it is", []Layer{layer("a", 10*s, 0), layer("b", 8*s+1, 0)}, []Verdict{Sound, Tight}, 8*s + 1, 0, ""},
		{"all but one nanosecond holds", []Layer{layer("a", 10*s, 0), layer("b", 10*s-1, 0)}, []Verdict{Sound, Tight}, 10*s - 1, 0, ""},
		{"the waits decide", []Layer{layer("a", 10*s, 0), waiting(layer("b", 3*s, 2), s)}, []Verdict{Sound, CannotHold}, 10 * s, 0, "it must be less"},
		{
			"a deadline that is adopted always holds",
			[]Layer{layer("api", 6*s, 0), adopted(layer("payment", 3*s, 2))},
			[]Verdict{Sound, Sound},
			6 * s, 0, "3s x 3 tries, but it ends with the 6s that api has for it",
		},
		{"nobody outside", []Layer{layer("browser", 30*s, 1)}, []Verdict{Sound}, 60 * s, 0, "30s x 2 tries = 1m0s, and nobody outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := mustAudit(t, c.layers...)
			worst := Sound
			for i, f := range a.Findings {
				if f.Verdict != c.verdicts[i] {
					t.Errorf("%s: %v (%s), want %v", f.Layer.Name, f.Verdict, f.Why(), c.verdicts[i])
				}
				worst = max(worst, f.Verdict)
			}
			last := a.Findings[len(a.Findings)-1]
			if last.Worst != c.worst || last.Over != c.over || !strings.Contains(last.Why(), c.why) {
				t.Errorf("worst %v, over %v, %q; want %v, %v, %q", last.Worst, last.Over, last.Why(), c.worst, c.over, c.why)
			}
			if a.Verdict != worst || len(a.Warnings) != 0 {
				t.Errorf("verdict %v, warnings %v; want %v and none", a.Verdict, a.Warnings, worst)
			}
		})
	}
}

func TestBackoffMakesTheWaits(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		backoff Backoff
		retries int
		want    time.Duration
	}{
		{"two windows", Backoff{100 * ms, time.Second, "test"}, 2, 300 * ms},
		{"the cap holds", Backoff{100 * ms, 250 * ms, "test"}, 4, 800 * ms}, // 100, 200, 250, 250
		{"no overflow", Backoff{time.Second, MaxLimit, "test"}, MaxRetries, 0},
	} {
		l := layer("b", ms, c.retries)
		l.Backoff = &c.backoff
		f := mustAudit(t, layer("a", time.Hour, 0), l).Findings[1]
		if c.want > 0 && f.Waits != c.want || f.Waits <= 0 || f.Worst != f.Waits+time.Duration(c.retries+1)*ms {
			t.Errorf("%s: %+v with %d retries: waits %v, worst %v; want waits %v", c.name, c.backoff, c.retries, f.Waits, f.Worst, c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	const s = time.Second
	bare := Layer{Name: "bare", Limit: Length{D: s}, Retries: Count{N: 1}, Waits: Length{D: s}}
	backed := Layer{Name: "backed", Limit: For(s, "test"), Retries: Count{1, "test"}, Backoff: &Backoff{Base: s, Cap: s}}
	for _, c := range []struct {
		name  string
		chain Chain
		want  []string
	}{
		{"each number without a reason", Chain{Layers: []Layer{bare}}, []string{"bare: limit: no reason", "bare: retries: no reason", "bare: waits: no reason"}},
		{"a backoff without one", Chain{Layers: []Layer{backed}}, []string{"backed: backoff: no reason"}},
		{
			"a load without one",
			Chain{Instances: Count{N: 1}, PerSecond: Count{N: 1}, Layers: []Layer{layer("a", s, 0)}},
			[]string{"instances: no reason", "per_second: no reason"},
		},
		{"nothing to adopt", Chain{Layers: []Layer{adopted(layer("a", s, 0))}}, []string{"a: deadline: adopted, but nobody"}},
		{
			"afresh under tries that may be cut short",
			Chain{Layers: []Layer{layer("a", 6*s, 0), adopted(layer("b", 3*s, 2)), layer("c", s, 0)}},
			[]string{"c: deadline: it starts afresh under b"},
		},
		{"adopted all the way", Chain{Layers: []Layer{layer("a", 6*s, 0), adopted(layer("b", 3*s, 2)), adopted(layer("c", s, 0))}}, nil},
	} {
		a, err := c.chain.Audit()
		if err != nil || len(a.Warnings) != len(c.want) {
			t.Errorf("%s: %v, %v; want %q", c.name, a.Warnings, err, c.want)
			continue
		}
		for i, w := range a.Warnings {
			if !strings.HasPrefix(w.String(), c.want[i]) {
				t.Errorf("%s: warning %q, want %q", c.name, w, c.want[i])
			}
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	if got, err := Load(20, 100, 5); got != 10_000 || err != nil {
		t.Errorf("Load(20, 100, 5) = %d, %v; want 10000", got, err)
	}
	const huge = 1 << 40
	for _, c := range []struct {
		tries []int
		want  int64 // 0: an error
	}{
		{nil, 1},
		{[]int{3, 3, 3}, 27},
		{[]int{1, 1}, 1},
		{[]int{0}, 0},
		{[]int{3, -1}, 0},
		{[]int{huge, 1 << 22}, 1 << 62},
		{[]int{huge, 1 << 23}, 0},
		{[]int{huge, huge}, 0},
	} {
		if got, err := Tries(c.tries...); got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("Tries(%v) = %d, %v; want %d", c.tries, got, err, c.want)
		}
	}
	// Browser, API and SDK each try three times.
	c := Chain{
		Instances: Count{20, "test"}, PerSecond: Count{100, "test"},
		Layers: []Layer{layer("browser", 60*time.Second, 2), layer("api", 15*time.Second, 2), layer("sdk", 4*time.Second, 2)},
	}
	a, err := c.Audit()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{3, 9, 27} {
		if f := a.Findings[i]; f.Calls != want || f.PerSecond != 2000*want {
			t.Errorf("%s: %d calls, %d a second; want %d and %d", f.Layer.Name, f.Calls, f.PerSecond, want, 2000*want)
		}
	}
}

func TestOutOfRange(t *testing.T) {
	t.Parallel()
	const s = time.Second
	with := func(change func(*Layer)) Chain {
		l := layer("a", s, 1)
		change(&l)
		return Chain{Layers: []Layer{l}}
	}
	many := Chain{}
	for range 20 {
		many.Layers = append(many.Layers, layer(strings.Repeat("x", len(many.Layers)+1), s, MaxRetries))
	}
	for _, c := range []struct {
		name  string
		chain Chain
		want  string
	}{
		{"no layers", Chain{}, "0 layers: from 1 to 100"},
		{"no name", with(func(l *Layer) { l.Name = "" }), `layer 1, "": name: "": from 1 to 100 bytes that can be printed`},
		{"a name that rings", with(func(l *Layer) { l.Name = "a\a" }), "name: "},
		{"a long name", with(func(l *Layer) { l.Name = strings.Repeat("a", 101) }), "name: "},
		{"one name twice", Chain{Layers: []Layer{layer("a", s, 0), layer("a", s, 0)}}, `layer 2: the name "a" is taken`},
		{"no limit", with(func(l *Layer) { l.Limit.D = 0 }), `layer 1, "a": limit: 0s is out of range`},
		{"a limit too long", with(func(l *Layer) { l.Limit.D = MaxLimit + 1 }), `layer 1, "a": limit: `},
		{"negative retries", with(func(l *Layer) { l.Retries.N = -1 }), `layer 1, "a": retries: -1 is out of range: from 0 to 99`},
		{"negative waits", with(func(l *Layer) { l.Waits.D = -1 }), `layer 1, "a": waits: `},
		{"two kinds of waits", with(func(l *Layer) { l.Waits.D, l.Backoff = s, &Backoff{Base: s, Cap: s} }), "choose one"},
		{"waits for nothing", with(func(l *Layer) { l.Waits.D, l.Retries.N = s, 0 }), "waits without retries"},
		{"base above cap", with(func(l *Layer) { l.Backoff = &Backoff{Base: 2 * s, Cap: s} }), "Cap: 1s is below Base"},
		{"no base", with(func(l *Layer) { l.Backoff = &Backoff{Cap: s} }), "base and cap must both be set"},
		{"unknown deadline", with(func(l *Layer) { l.Deadline = 2 }), "deadline: 2 is neither"},
		{"half a load", Chain{Instances: Count{N: 1}, Layers: []Layer{layer("a", s, 0)}}, "one without the other"},
		{"negative load", Chain{Instances: Count{N: -1}, PerSecond: Count{N: 1}, Layers: []Layer{layer("a", s, 0)}}, "load: -1 is out of range"},
		{"tries beyond any count", many, "beyond any count"},
	} {
		if _, err := c.chain.Audit(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
