package main

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

// chainTable prints what the runs have in common, a row for each, what to notice
// and, of a single chain, the time line.
func chainTable(w io.Writer, o *chainOptions, runs []chainRun) {
	fmt.Fprintln(w, cli.Paragraph("chain   ", strings.Join(o.inCommon(), ", ")))
	fmt.Fprintln(w)
	// As exact as there is room for; JSON always is.
	for digits := 15; ; digits -= 3 {
		rows := chainRows(o, runs, digits)
		if columns(rows) <= cli.Width || digits <= 6 {
			fmt.Fprint(w, rows)
			break
		}
	}
	for _, text := range chainNotes(runs) {
		fmt.Fprintf(w, "\n%s\n", cli.Wrap(text, cli.Width))
	}
	if len(o.hops.values) == 1 && len(o.budgets.values) == 1 {
		drawChains(w, runs)
	}
}

// chainColumn is a column of the table: its head, and its cell of a run.
type chainColumn struct {
	head string
	show bool
	left bool
	cell func(chainRun) string
}

func chainRows(o *chainOptions, runs []chainRun, digits int) string {
	number := func(of func(chainRun) *big.Int) func(chainRun) string {
		return func(r chainRun) string { return fitted(of(r), digits) }
	}
	var head []string
	var configs []table.ColumnConfig
	rows := make([]table.Row, len(runs))
	for _, c := range []chainColumn{
		{"hops", len(o.hops.values) > 1, false, func(r chainRun) string { return strconv.Itoa(r.chain.Hops) }},
		{"budget", len(o.budgets.values) > 1, false, number(func(r chainRun) *big.Int { return big.NewInt(r.chain.Budget) })},
		{"policy", o.policy.Value == allPolicies, true, func(r chainRun) string { return r.chain.Policy.String() }},
		{"entry saw", true, true, func(r chainRun) string { return entrySaw(r, digits) }},
		{"leaf\ncalls", true, false, number(func(r chainRun) *big.Int { return r.LeafCalls })},
		{"all\ncalls", true, false, number(func(r chainRun) *big.Int { return r.AllCalls })},
		{"elapsed", true, false, number(func(r chainRun) *big.Int { return r.Elapsed })},
		{"orphaned", !o.stop, false, number(func(r chainRun) *big.Int { return r.Orphaned })},
		{"overlap", !o.stop, false, number(func(r chainRun) *big.Int { return r.OrphanedOverlap })},
		{"saved", o.stop, false, number(func(r chainRun) *big.Int { return r.Saved })},
	} {
		if !c.show {
			continue
		}
		align := text.AlignRight
		if c.left {
			align = text.AlignLeft
		}
		head = append(head, c.head)
		configs = append(configs, table.ColumnConfig{Number: len(head), Align: align, AlignHeader: align})
		for i, r := range runs {
			rows[i] = append(rows[i], c.cell(r))
		}
	}
	var b strings.Builder
	t := cli.NewTable(&b, head...)
	t.SetColumnConfigs(configs)
	t.AppendRows(rows)
	t.Render()
	return b.String()
}

// columns returns the width of the widest line.
func columns(text string) int {
	widest := 0
	for line := range strings.Lines(text) {
		widest = max(widest, len(line)-len("\n"))
	}
	return widest
}

func entrySaw(r chainRun, digits int) string {
	if r.OK {
		return "ok at " + fitted(r.Entry, digits)
	}
	return "fail at " + fitted(r.Entry, digits)
}

// fitted writes n with at most so many digits, as a power of ten if it has more.
func fitted(n *big.Int, digits int) string {
	if n == nil {
		return "-"
	}
	s := n.String()
	for precision := 2; len(s) > digits && precision >= 0; precision-- {
		mantissa, exponent, _ := strings.Cut(new(big.Float).SetInt(n).Text('e', precision), "e+")
		s = mantissa + "e" + strings.TrimLeft(exponent, "0")
	}
	return s
}

// inCommon says what all runs share.
func (o *chainOptions) inCommon() []string {
	c := o.chains[0]
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if o.policy.Value != allPolicies {
		add("policy %s", c.Policy)
	}
	if len(o.hops.values) == 1 {
		add("hops %d", c.Hops)
	}
	add("tries %s", o.tries.String())
	switch {
	case c.Cost == 0:
		add("the leaf uses all that it is given")
	case o.cost.random():
		add("cost %s, taken to be %d", o.cost.text, c.Cost)
	default:
		add("cost %d", c.Cost)
	}
	if len(o.budgets.values) == 1 && len(o.hopBudget.values) == 0 && o.policy.Value != deadlinechain.None.String() {
		add("budget %d", c.Budget)
	}
	switch c.Fails {
	case deadlinechain.Always:
		add("the leaf always fails")
	case 0:
		add("the leaf never fails")
	default:
		add("the leaf fails %d times", c.Fails)
	}
	for _, option := range []struct {
		name  string
		value *numbers
	}{
		{"per try", &o.perTry},
		{"backoff", &o.backoff},
		{"backoff cap", &o.backoffCap},
		{"own work", &o.ownWork},
		{"hop budget", &o.hopBudget},
		{"parallel", &o.parallel},
		{"permanent from leaf call", &o.permanent},
	} {
		if len(option.value.values) > 1 || option.value.first() > 0 {
			add("%s %s", option.name, option.value.String())
		}
	}
	if o.jitter {
		add("jitter")
	}
	if c.Stop {
		add("who gives up tells those below to stop")
	}
	switch {
	case o.many():
		add("%d runs, seed %d", o.runs.first(), o.seed)
	case o.random():
		add("one run, seed %d", o.seed)
	}
	return words
}

// chainNotes says what to notice in the runs.
func chainNotes(runs []chainRun) []string {
	var notes []string
	var unseen, undone *chainRun
	for i, r := range runs {
		if unseen == nil && r.OrphanedOverlap.Sign() > 0 {
			unseen = &runs[i]
		}
		if undone == nil && !r.OK && r.LeafOK.Sign() > 0 {
			undone = &runs[i]
		}
	}
	if unseen != nil {
		notes = append(notes, fmt.Sprintf("With policy %s the entry was done at %s and saw nothing more. Those below worked %s for nobody: only they can show it.",
			unseen.chain.Policy, fitted(unseen.Entry, 15), fitted(unseen.OrphanedOverlap, 15)))
	}
	if undone != nil {
		notes = append(notes, fmt.Sprintf("With policy %s the leaf succeeded, but the entry had gone: it was done, and the entry does not know.", undone.chain.Policy))
	}
	if len(runs) > 1 && noDeadlineBites(runs) {
		notes = append(notes, "With 2 hops the deadline does not bite here: all policies come to the same. It takes a third hop to see what they do.")
	}
	return notes
}

// noDeadlineBites says whether all are chains of 2 hops that go alike.
func noDeadlineBites(runs []chainRun) bool {
	for _, r := range runs {
		if r.chain.Hops != 2 || r.LeafCalls.Cmp(runs[0].LeafCalls) != 0 || r.Elapsed.Cmp(runs[0].Elapsed) != 0 {
			return false
		}
	}
	return true
}
