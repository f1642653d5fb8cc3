package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/cli"
)

// head prints the budget and what there is to say about the plan.
func (r *screenReport) head(w io.Writer) {
	field := func(name, text string) { fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%-8s", name), text)) }
	field("screen", r.plan.name)
	reserve := "all of it for the parts"
	if d := r.plan.reserveInForce(); d > 0 {
		reserve = cli.ShowLimit(d) + " of it kept for putting the answer together"
	}
	field("budget", cli.ShowLimit(r.plan.budget.D)+", "+reserve)
	verdict := map[screen.Verdict]string{screen.Sound: "sound", screen.Tight: "tight", screen.CannotHold: "CANNOT HOLD"}
	field("plan", verdict[screen.Worst(r.notes)])
	for _, n := range r.notes {
		mark := "note"
		if n.Verdict != screen.Sound {
			mark = strings.ToLower(verdict[n.Verdict])
		}
		const glue = "\x00" // a number and its % stay on one line
		text := cli.Paragraph("        ", strings.ReplaceAll(mark+": "+noteText(n), " %", glue+"%"))
		fmt.Fprintln(w, strings.ReplaceAll(text, glue, " "))
	}
	fmt.Fprintln(w)
}

// checkTable prints every number of the plan with its reason.
func (r *screenReport) checkTable() error {
	w := &errWriter{w: r.to.Out}
	r.head(w)
	t := cli.NewTable(w, "part", "number", "value", "reason")
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 1, WidthMax: 14, WidthMaxEnforcer: breakLines},
		{Number: 3, WidthMax: 22, WidthMaxEnforcer: cli.Wrap},
		{Number: 4, WidthMax: 26, WidthMaxEnforcer: cli.Wrap},
	})
	for _, n := range r.plan.numbers {
		part, reason := n.Part, n.Reason
		if part == "" {
			part = "(all)"
		}
		if reason == "" {
			reason = "- (none given)"
		}
		t.AppendRow(table.Row{part, n.Name, n.Value, reason})
	}
	t.Render()
	return w.err
}

// The widths of the budget table. With two spaces between columns it fits in
// cli.Width.
const (
	screenName        = 14
	screenNumberWidth = 6
)

// table prints the budget table, the waterfall and the answer.
func (r *screenReport) table(res *screen.Result, out *screenOutcome) error {
	w := &errWriter{w: r.to.Out}
	r.head(w)
	const numbers = 5
	const whyWidth = cli.Width - screenName - numbers*(screenNumberWidth+2) - 2
	t := cli.NewTable(w, "in ms", "left\nbefore", "limit\nused", "waited", "used", "left\nafter", "class\nwhy not called")
	columns := []table.ColumnConfig{
		{Number: 1, WidthMax: screenName, WidthMaxEnforcer: wrapHard},
		{Number: numbers + 2, WidthMax: whyWidth, WidthMaxEnforcer: wrapHard},
	}
	for n := 2; n <= numbers+1; n++ {
		columns = append(columns, table.ColumnConfig{Number: n, WidthMin: screenNumberWidth, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, l := range res.Lines() {
		limit, waited, used := "-", "-", "-"
		if l.Called {
			limit, used = millisText(l.Limit), millisText(l.Used)
		}
		if l.Called || l.Waited > 0 {
			waited = millisText(l.Waited)
		}
		t.AppendRow(table.Row{lineName(l), millisText(l.Left), limit, waited, used, millisText(l.LeftAfter), lineEnd(l)})
	}
	t.Render()
	fmt.Fprintln(w)
	waterfall(w, res)
	fmt.Fprintln(w)
	r.foot(w, res, out)
	return w.err
}

// foot says in words what came of it.
func (r *screenReport) foot(w io.Writer, res *screen.Result, out *screenOutcome) {
	field := func(name, text string) { fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%-8s", name), text)) }
	field("total", fmt.Sprintf("%s used of %s, %s left", cli.Show(res.Elapsed), cli.ShowLimit(r.plan.budget.D), cli.Show(res.Left)))
	for i := range res.Parts {
		switch p := &res.Parts[i]; {
		case p.Source == screen.SourceOld:
			field("old", fmt.Sprintf("%s: a value from %v ago, since %s", p.Name, p.Age.Round(time.Second), partEnd(p)))
		case p.Source == screen.SourceFallback:
			field("instead", fmt.Sprintf("%s: the fallback's value, since %s", p.Name, partEnd(p)))
		case p.Missing() && !p.Required && res.Err == nil:
			field("missing", fmt.Sprintf("%s (optional): %s", p.Name, partEnd(p)))
		}
	}
	if res.Err != nil {
		field("failed", res.Err.Error())
		field("effect", effectInWords(res.Effect()))
		return
	}
	if answer := "answer  " + string(out.Answer); utf8.RuneCountInString(answer) <= cli.Width {
		fmt.Fprintln(w, answer)
		return
	}
	var b bytes.Buffer
	_ = json.Indent(&b, out.Answer, "", "  ") // it is JSON: we made it
	fmt.Fprintf(w, "answer\n%s\n", b.Bytes())
}

// partEnd says in a few words why a part's call gave no value.
func partEnd(p *screen.Outcome) string {
	text := classWord(p.Class)
	switch {
	case p.Class == budgetcaller.ClassStatus:
		return p.Why
	case p.Phase != budgetcaller.PhaseNone:
		text += " in " + p.Phase.String()
	}
	if p.Why != "" {
		text += ", " + p.Why
	}
	return text
}

func lineName(l screen.Line) string {
	switch {
	case l.Fallback:
		return l.Part + ", fallback"
	case l.Try > 1:
		return fmt.Sprintf("%s, try %d", l.Part, l.Try)
	}
	return l.Part
}

// lineEnd is the last cell of a line: the class, and in the next line why it was
// not made, or where and why it failed.
func lineEnd(l screen.Line) string {
	text := classWord(l.Class)
	switch {
	case !l.Called:
		return text + "\nnot called: " + l.Why
	case l.Class == budgetcaller.ClassOK:
		return text
	case l.Class == budgetcaller.ClassStatus:
		return fmt.Sprintf("%s %d", text, l.Status)
	}
	if l.Phase != budgetcaller.PhaseNone {
		text += "\nin " + l.Phase.String()
	}
	if l.Why != "" {
		text += "\n" + l.Why
	}
	return text
}

// wrapHard wraps between words, and in a word that is too long by itself.
func wrapHard(s string, width int) string { return breakLines(cli.Wrap(s, width), width) }

// millisText is a duration in milliseconds in at most six characters.
func millisText(d time.Duration) string {
	if d < 9999950*time.Microsecond {
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
	}
	return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10)
}

// waterfall draws when each line waited and worked, over the whole budget.
func waterfall(w io.Writer, res *screen.Result) {
	lines := res.Lines()
	name := 0
	for _, l := range lines {
		name = max(name, min(utf8.RuneCountInString(lineName(l)), screenName))
	}
	name = max(name, len("(reserve)"))
	width := cli.Width - name - 2
	at := func(d time.Duration) int {
		if res.Budget <= 0 {
			return 0
		}
		return min(width, int(float64(d)/float64(res.Budget)*float64(width)+0.5))
	}
	end := cli.ShowLimit(res.Budget.Round(time.Millisecond))
	fmt.Fprintf(w, "%-*s  0%*s\n", name, "", width-1, end)
	for _, l := range lines {
		from := at(l.At)
		begin, until := max(from, at(l.At+l.Waited)), at(l.At+l.Waited+l.Used)
		bar := strings.Repeat(".", begin-from) + strings.Repeat("#", max(0, until-begin))
		switch {
		case !l.Called:
			bar, from = strings.Repeat(".", begin-from)+"x", min(from, width-1)
		case until == begin:
			bar, from = bar+"#", min(from, width-1)
		}
		label := lineName(l)
		if utf8.RuneCountInString(label) > name {
			label = string([]rune(label)[:name-1]) + "~"
		}
		fmt.Fprintf(w, "%-*s  %s%s\n", name, label, strings.Repeat(" ", from), bar)
	}
	if res.Reserve > 0 {
		from := at(res.Budget - res.Reserve)
		fmt.Fprintf(w, "%-*s  %s%s\n", name, "(reserve)", strings.Repeat(" ", min(from, width-1)), strings.Repeat("=", max(1, width-from)))
	}
	fmt.Fprintf(w, "%-*s  # calling, . waiting, x not called\n", name, "")
}
