package main

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/cmd/internal/cli"
	"chaoslab/internal/realchain"
	"chaoslab/labs/deadlinechain"
)

// realTimes are the times of a run, in real time.
type realTimes struct{ entry, elapsed, orphaned, overlap, work cli.Millis }

// inTime returns what was simulated, a tick for a unit.
func (r realRun) inTime() realTimes {
	in := func(n *big.Int) cli.Millis { return cli.Millis(time.Duration(n.Int64()) * r.Tick) }
	s := r.Simulated
	return realTimes{in(s.Entry), in(s.Elapsed), in(s.Orphaned), in(s.OrphanedOverlap), in(s.Work)}
}

func (r realRun) times() realTimes {
	m := r.m
	return realTimes{cli.Millis(m.Entry), cli.Millis(m.Elapsed), cli.Millis(m.Orphaned), cli.Millis(m.OrphanedOverlap), cli.Millis(m.Work)}
}

// realTable prints what the runs have in common, two rows for each, and what the
// entry saw beside what the leaf saw.
func realTable(w io.Writer, o *chainOptions, runs []realRun) {
	fmt.Fprintln(w, cli.Paragraph("chain   ", strings.Join(o.inCommon(), ", ")))
	fmt.Fprintln(w, cli.Paragraph("real    ", fmt.Sprintf("a unit is %s, deadlines come %s late; all times in ms", cli.ShowLimit(runs[0].Tick), cli.ShowLimit(runs[0].Late()))))
	fmt.Fprintln(w)
	wide := len(o.hops.values) > 1 && len(o.budgets.values) > 1
	var rows [][]string
	for _, r := range runs {
		sim, m := r.inTime(), r.times()
		rows = append(rows,
			append(o.which(r.Chain), "sim", saw(r.Simulated.OK, sim.entry), r.Simulated.LeafCalls.String(), r.Simulated.AllCalls.String(),
				inMS(sim.elapsed), inMS(sim.orphaned), inMS(sim.overlap)),
			append(o.which(r.Chain), "real", saw(r.m.OK, m.entry), strconv.Itoa(r.m.LeafCalls), strconv.Itoa(r.m.AllCalls),
				inMS(m.elapsed), inMS(m.orphaned), inMS(m.overlap)))
	}
	head := append(o.whichHead(), "run", "entry saw", "leaf\ncalls", "all\ncalls", "elapsed", "orphaned", "overlap")
	if wide { // too wide with all of it
		at := len(o.whichHead()) + 3
		head = without(head, at)
		for i := range rows {
			rows[i] = without(rows[i], at)
		}
	}
	plainTable(w, head, rows)
	rows = nil
	for _, r := range runs {
		m := r.times()
		rows = append(rows, append(o.which(r.Chain), strconv.Itoa(r.m.Calls[1]), saw(r.m.OK, m.entry),
			strconv.Itoa(r.m.LeafCalls), inMS(cli.Millis(r.m.Leaf)), inMS(m.work), inMS(m.overlap)))
	}
	fmt.Fprintln(w)
	plainTable(w, append(o.whichHead(), "entry\nsent", "entry saw", "leaf\nhad", "leaf\nuntil", "work\nin all", "of it for\nnobody"), rows)
	for _, note := range realNotes(runs) {
		fmt.Fprintf(w, "\n%s\n", cli.Wrap(note, cli.Width))
	}
	if len(o.hops.values) == 1 && len(o.budgets.values) == 1 {
		var pictures []picture
		for _, r := range runs {
			pictures = append(pictures, r.pictures()...)
		}
		drawPictures(w, pictures)
	}
}

func without(row []string, at int) []string { return append(row[:at:at], row[at+1:]...) }

// which tells one run from the others; whichHead is the head of those columns.
func (o *chainOptions) which(c deadlinechain.Chain) []string {
	var cells []string
	if len(o.hops.values) > 1 {
		cells = append(cells, strconv.Itoa(c.Hops))
	}
	if len(o.budgets.values) > 1 {
		cells = append(cells, num64(c.Budget))
	}
	return append(cells, c.Policy.String())
}

func (o *chainOptions) whichHead() []string {
	var head []string
	if len(o.hops.values) > 1 {
		head = append(head, "hops")
	}
	if len(o.budgets.values) > 1 {
		head = append(head, "budget")
	}
	return append(head, "policy")
}

func saw(ok bool, at cli.Millis) string {
	if ok {
		return "ok at " + inMS(at)
	}
	return "fail at " + inMS(at)
}

// inMS writes a time with as much behind the point as there is room for.
func inMS(m cli.Millis) string {
	digits := 1
	if time.Duration(m) >= 10*time.Second {
		digits = 0
	}
	return strconv.FormatFloat(float64(m)/float64(time.Millisecond), 'f', digits, 64)
}

// plainTable prints rows of text, numbers to the right.
func plainTable(w io.Writer, head []string, rows [][]string) {
	t := cli.NewTable(w, head...)
	var configs []table.ColumnConfig
	for i := range head {
		if len(rows) > 0 && rows[0][i] != "" && strings.Trim(rows[0][i], "0123456789.%e-") == "" {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(configs)
	for _, row := range rows {
		cells := make(table.Row, len(row))
		for i, c := range row {
			cells[i] = c
		}
		t.AppendRow(cells)
	}
	t.Render()
}

// realNotes says what to notice.
func realNotes(runs []realRun) []string {
	var notes []string
	var unseen, apart *realRun
	perCall := time.Duration(0)
	for i, r := range runs {
		if !r.m.Agrees && apart == nil {
			apart = &runs[i]
		}
		if r.m.OrphanedOverlap > r.Late() && unseen == nil { // less is only the way of the word to stop
			unseen = &runs[i]
		}
		late := r.m.Elapsed - time.Duration(r.inTime().elapsed)
		perCall = max(perCall, late/time.Duration(max(1, r.m.LeafCalls)))
	}
	if unseen != nil {
		notes = append(notes, fmt.Sprintf("With policy %s the entry was done at %s ms and saw nothing more. Those below worked %s ms for nobody: only their ledgers show it.",
			unseen.Chain.Policy, inMS(unseen.times().entry), inMS(unseen.times().overlap)))
	}
	if apart != nil {
		return append(notes, fmt.Sprintf("With policy %s the real chain went otherwise than simulated: this machine was later than half a unit. Try a longer one: --tick %v.",
			apart.Chain.Policy, min(realchain.MaxTick, 2*apart.Tick)))
	}
	note := fmt.Sprintf("Every hop was called as often as simulated, and all was over at most %s ms for each call of the leaf later.", inMS(cli.Millis(perCall)))
	if tick := runs[0].Tick; perCall > tick {
		note += fmt.Sprintf(" That is more than a unit: with a longer one the times come closer: --tick %v.", min(realchain.MaxTick, 2*perCall.Round(tick)))
	}
	return append(notes, note)
}
