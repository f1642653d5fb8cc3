package deadlinechain

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestTraceTellsTheStory(t *testing.T) {
	t.Parallel()
	in := Chain{Hops: 3, Tries: 2, Cost: 10, Budget: 25, Fails: Always, Policy: Each, Trace: 100}
	var got []string
	for _, e := range simulate(t, in).Trace.Events {
		got = append(got, fmt.Sprintf("%d %s %d<%d hop %d told %d", e.At, e.Kind, e.Call, e.From, e.Hop, e.Told))
	}
	want := []string{
		"0 called 1<0 hop 1 told 25",
		"0 called 2<1 hop 2 told 25",
		"0 called 3<2 hop 3 told 25",
		"10 failed 3<2 hop 3 told -1",
		"10 called 4<2 hop 3 told 25",
		"20 failed 4<2 hop 3 told -1",
		"20 failed 2<1 hop 2 told -1",
		"20 not_tried 1<0 hop 1 told 5",
		"20 failed 1<0 hop 1 told -1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%+v:\n got %s\nwant %s", in, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestTraceShowsWhoWorksForNobody(t *testing.T) {
	t.Parallel()
	in := Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: Always, Policy: Each, Trace: 100}
	tr := simulate(t, in).Trace
	var got []string
	for _, s := range tr.Spans() {
		got = append(got, fmt.Sprintf("%d:%d-%d %s", s.Hop, s.Start, s.End, s.How))
	}
	want := "[1:0-45 failed 2:0-30 failed 3:0-10 failed 3:10-20 failed 3:20-30 failed " +
		"2:30-60 failed 3:30-40 failed 3:40-50 failed 3:50-60 failed]"
	if fmt.Sprint(got) != want {
		t.Errorf("%+v:\n got %v\nwant %s", in, got, want)
	}
}

// A call is known by the calls above it: which of those at once, and which try.
func TestTraceNamesEveryCall(t *testing.T) {
	t.Parallel()
	in := Chain{Hops: 3, Tries: 2, Cost: 10, Budget: 45, Fails: Always, Policy: Pass, PerHop: []Hop{{Parallel: 2}}, Trace: 100}
	names := map[int]string{}
	var got []string
	for _, e := range simulate(t, in).Trace.Events {
		if e.Kind != Called {
			continue
		}
		if e.From > 0 {
			names[e.Call] = fmt.Sprintf("%s/%d.%d", names[e.From], e.Branch, e.Try)
		}
		if e.Hop == in.Hops {
			got = append(got, names[e.Call])
		}
	}
	const want = "[/1.1/1.1 /2.1/1.1 /1.1/1.2 /2.1/1.2 /1.2/1.1 /2.2/1.1 /1.2/1.2 /2.2/1.2]"
	if fmt.Sprint(got) != want {
		t.Errorf("%+v:\n got %v\nwant %s", in, got, want)
	}
}

func TestTraceCountsTies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   Chain
		want int
	}{
		// Its second leaf call ends at 40, when the entry does.
		{"stopped at that moment", Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 40, Policy: Each, Stop: true}, 1},
		{"stopped while it works", Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Policy: Each, Stop: true}, 0},
		{"not stopped", Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 40, Policy: Each}, 0},
	} {
		c.in.Fails, c.in.Trace = Always, 100
		if got := simulate(t, c.in).Trace.Ties; got != c.want {
			t.Errorf("%s: %+v: %d ties, want %d", c.name, c.in, got, c.want)
		}
	}
}

func TestLeafCost(t *testing.T) {
	t.Parallel()
	draw, err := Uniform(5, 15)
	if err != nil {
		t.Fatal(err)
	}
	in := Chain{Hops: 2, Tries: 4, Cost: 10, Fails: 3, Permanent: 3, RandomCost: draw, Seed: 7}
	got, total := "", int64(0)
	for n := int64(1); n <= 4; n++ {
		cost, how := in.LeafCost(n)
		got += fmt.Sprint(how, " ")
		if n <= 3 { // it is tried no more after the third
			total += cost
		}
	}
	if work := simulate(t, in).Work.Int64(); got != "failed failed permanent ok " || total != work {
		t.Errorf("%+v: %s, the first three take %d, want failed failed permanent ok, %d", in, got, total, work)
	}
	in.RandomCost, in.Cost, in.PerTry = nil, 0, 5
	if cost, _ := in.LeafCost(1); cost != MaxTime {
		t.Errorf("%+v: cost %d, want all that there is", in, cost)
	}
}

// Also of a chain that is far too large to be played, the first events are there.
func TestTraceIsBounded(t *testing.T) {
	t.Parallel()
	in := Chain{Hops: 64, Tries: 10, Cost: 10, Fails: Always, Trace: 70}
	tr := simulate(t, in).Trace
	if len(tr.Events) != 70 || !tr.Cut {
		t.Fatalf("%+v: %d events, cut %v, want 70, cut", in, len(tr.Events), tr.Cut)
	}
	spans := tr.Spans()
	if first := spans[0]; first.How != Called || first.End >= first.Start {
		t.Errorf("the entry's span is %+v, want one without an end", first)
	}
}

// The package stands on the standard library alone.
func TestImports(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); path == "time" && !strings.HasSuffix(e.Name(), "_test.go") ||
				strings.Contains(path, ".") || strings.HasPrefix(path, "chaoslab/") && path != "chaoslab/labs/deadlinechain" {
				t.Errorf("%s imports %s: the simulator has a clock of its own and needs nothing but the standard library", e.Name(), path)
			}
		}
	}
}
