package main

import (
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// runTable is the table of runs, two lines a row.
type runTable struct{ table.Writer }

// The widths of its columns. With two spaces between them they fit in
// cli.Width.
const (
	whatWidth    = 15 // an address with a port of five digits
	partnerWidth = 12
)

// newRunTable returns an empty one; partner says whether it has the partner's
// column.
func newRunTable(w io.Writer, what string, partner bool) runTable {
	t := cli.NewTable(w, what, "class\nphase", "limit\nconfigured", "actual\novershoot", "effect", "partner saw\nms (diff.)")
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 1, WidthMin: whatWidth, WidthMax: whatWidth, WidthMaxEnforcer: breakLines},
		{Number: 4, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 6, WidthMax: partnerWidth, Hidden: !partner},
	})
	return runTable{t}
}

// addCall adds a call and, where they tell more, the attempts it consists of.
func (t runTable) addCall(what string, l measureLine) {
	t.add(what, l.howEnded, l.Partner)
	if l.telling() {
		for _, a := range l.Detail {
			t.addWord(a.caption(), a.word(), a.howEnded, a.Partner)
		}
	}
}

func (t runTable) add(what string, l howEnded, partner *partnerView) {
	t.addWord(what, l.Class.String(), l, partner)
}

// addWord is add with another word for the class.
func (t runTable) addWord(what, class string, l howEnded, partner *partnerView) {
	configured, overshoot := "-", "-"
	if l.Configured != nil {
		configured = cli.ShowLimit(time.Duration(*l.Configured))
	}
	if l.Overshoot != nil {
		overshoot = "+" + cli.Show(time.Duration(*l.Overshoot))
	}
	where := "in " + l.Phase.String()
	if l.Phase == budgetcaller.PhaseNone {
		where = "not started"
	}
	t.AppendRow(table.Row{
		what,
		class + "\n" + where,
		l.Limit.String() + "\n" + configured,
		cli.Show(time.Duration(l.Elapsed)) + "\n" + overshoot,
		l.Effect.String(),
		partner.inWords(),
	})
}

// breakLines breaks what is longer than width, wherever that is: an address has
// no place to be broken at.
func breakLines(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = text.WrapHard(line, width)
	}
	return strings.Join(lines, "\n")
}
