package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/storm"
)

// stormHead says what was run.
func stormHead(w io.Writer, r stormRun) {
	c := r.Config
	what := fmt.Sprintf("%d instances x %d calls/s x %d attempts: up to %d requests/s; an attempt may take %s, a call is good within %s",
		c.Instances, c.Rate, c.Attempts, c.Load(), cli.ShowLimit(c.Attempt), cli.ShowLimit(c.Patience))
	fmt.Fprintln(w, cli.Paragraph("storm    ", what))
	if r.failing == "" {
		fmt.Fprintln(w, cli.Paragraph("partner  ", fmt.Sprintf("%s as it is: %s, then a failure is due for %s, then %s",
			r.url, cli.ShowLimit(c.Healthy), cli.ShowLimit(c.Failure), cli.ShowLimit(c.Recovery))))
		return
	}
	partner := r.usual
	if r.capacity > 0 {
		partner = fmt.Sprintf("%.0f requests/s at most", r.capacity)
	}
	fmt.Fprintln(w, cli.Paragraph("partner  ", fmt.Sprintf("well for %s: %s; failing for %s: %s; well again for %s",
		cli.ShowLimit(c.Healthy), partner, cli.ShowLimit(c.Failure), r.failing, cli.ShowLimit(c.Recovery))))
}

// stormTable prints one run, second by second.
func stormTable(w io.Writer, r stormRun) {
	stormHead(w, r)
	fmt.Fprintln(w, cli.Paragraph("policy   ", r.Config.Policy.String()+": "+r.Config.Policy.Summary()))
	fmt.Fprintln(w)
	t := cli.NewTable(w, "\nfrom", "\nphase", "calls\ndue", r.ratesHead(), "sent\nfirst", "\nretried", "calls\ngood", "\nlate", "\nfailed", "orphaned\nwork")
	rightFrom(t, 10, 1, 3)
	for _, s := range r.Seconds {
		t.AppendRow(table.Row{
			fmt.Sprintf("%.0f s", s.From.Seconds()), s.Phase.String(), s.Due, rounded(s.Rate), s.First, s.Retried,
			s.Good, s.Late, s.Failed + s.Dropped, r.orphaned(s.Partner),
		})
	}
	t.Render()
	fmt.Fprintln(w)
	sparks(w, r, "", r.Peak, float64(r.Config.Instances*r.Config.Rate))
	if took := r.took(); took != "" {
		fmt.Fprintf(w, "\n%s\n", cli.Paragraph("calls took  ", took))
	}
	for _, note := range r.notes() {
		fmt.Fprintf(w, "\n%s\n", cli.Wrap(note, cli.Width))
	}
}

// ratesHead is the head of the column of requests a second.
func (r stormRun) ratesHead() string {
	if r.Uncounted {
		return "all\nsent /s"
	}
	return "partner\ngets /s"
}

// orphaned is the work for clients that had left, if anybody knows it.
func (r stormRun) orphaned(c storm.Counts) string {
	if r.Uncounted {
		return "-"
	}
	return seconds(c.Orphaned)
}

// took says how long calls took, from when they were due.
func (r stormRun) took() string {
	var parts []string
	for phase, l := range r.Latency {
		if l.N > 0 {
			parts = append(parts, fmt.Sprintf("%s p50 %s, p99 %s", storm.Phase(phase), cli.Show(l.P50), cli.Show(l.P99)))
		}
	}
	return strings.Join(parts, "; ")
}

// rightFrom aligns the columns from a number on to the right, and one more.
func rightFrom(t table.Writer, columns int, also, from int) {
	var configs []table.ColumnConfig
	for n := 1; n <= columns; n++ {
		if n >= from || n == also {
			configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(configs)
}

// sparkColumns is how wide a sparkline gets at most.
const sparkColumns = 44

// sparks draws a run in two lines, from nothing to most, at the partner and of
// good calls.
func sparks(w io.Writer, r stormRun, name string, most, calls float64) {
	var arrived, good []float64
	for _, s := range r.Seconds {
		if s.Phase < storm.Ending {
			arrived = append(arrived, s.Rate)
			good = append(good, float64(s.Good)/max((s.To-s.From).Seconds(), 0.5))
		}
	}
	where := "at partner"
	if r.Uncounted {
		where = "sent"
	}
	fmt.Fprintf(w, "%-10s%-12s%s\n", name, where, strings.TrimRight(sparkline(squeeze(arrived, sparkColumns), most)+"  of "+rounded(most)+"/s", " "))
	fmt.Fprintf(w, "%-10s%-12s%s\n", "", "good calls", sparkline(squeeze(good, sparkColumns), calls)+"  of "+rounded(calls)+"/s")
}

func rounded(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', 0, 64) }
func tenths(v float64) string  { return strconv.FormatFloat(v, 'f', 1, 64) }

// seconds returns d in seconds, with a fraction where it matters.
func seconds(d time.Duration) string {
	if d < 100*time.Second {
		return tenths(d.Seconds()) + " s"
	}
	return rounded(d.Seconds()) + " s"
}

// recovered is when calls were good again, in words.
func (r stormRun) recovered() string {
	switch {
	case r.Interrupted:
		return "-"
	case r.Recovered.Ok:
		return seconds(r.Recovered.After)
	}
	return "not at all"
}

// stormCompare prints several runs, a row each.
func stormCompare(w io.Writer, runs []stormRun) {
	stormHead(w, runs[0])
	fmt.Fprintln(w)
	t := cli.NewTable(w, "\npolicy", runs[0].ratesHead(), "sent\nfirst", "\nretried", "calls\ngood", "\nlate", "\nfailed", "orphaned\nwork", "recovered\nafter")
	rightFrom(t, 9, 0, 2)
	peak := 0.0
	for _, r := range runs {
		peak = max(peak, r.Peak)
		t.AppendRow(table.Row{
			r.Config.Policy.String(), rounded(r.Peak), r.Attempts.First, r.Attempts.Retried,
			r.Calls.Good, r.Calls.Late, r.Calls.Failed + r.Calls.Dropped + r.Calls.Canceled,
			r.orphaned(r.Partner), r.recovered(),
		})
	}
	t.Render()
	for _, r := range runs {
		fmt.Fprintln(w)
		sparks(w, r, r.Config.Policy.String(), peak, float64(r.Config.Instances*r.Config.Rate))
	}
	for _, note := range compareNotes(runs) {
		fmt.Fprintf(w, "\n%s\n", cli.Wrap(note, cli.Width))
	}
}

// lateEnough is how late calls may be begun before it is said that the machine
// was too busy for the figures to mean much.
const lateEnough = 100 * time.Millisecond

// tooBusy says whether the machine was too busy for the figures to mean much.
func (r stormRun) tooBusy() bool { return r.Machine.LateP99 > lateEnough }

// notes says what to notice in a run.
func (r stormRun) notes() []string {
	if r.Interrupted {
		return nil
	}
	c, calls := r.Config, r.Config.Instances*r.Config.Rate
	notes := r.machineNotes()
	switch {
	case r.tooBusy():
	case r.failing == "":
		notes = append(notes, r.afterward())
	case !r.Recovered.Ok && r.Calls.Good < r.Calls.Due:
		notes = append(notes, fmt.Sprintf("The partner was well again after %s, the calls were not: what arrives is more than it can do, so it works for those who have left, and they try again. Only less load ends that: caller storm --policy all.", cli.ShowLimit(c.Failure)))
	case r.Recovered.After > 0:
		notes = append(notes, fmt.Sprintf("Calls were good again %s after the partner was.", r.recovered()))
	case r.Recovered.Ok:
		notes = append(notes, "Calls were good again as soon as the partner was.")
	}
	if d := r.Partner.Orphaned; d >= 50*time.Millisecond {
		notes = append(notes, fmt.Sprintf("The partner worked %s for clients that had left. None of them could see that.", seconds(d)))
	}
	if r.Peak > 1.2*float64(calls) {
		verb := "arrived"
		if r.Uncounted {
			verb = "were sent"
		}
		note := fmt.Sprintf("At the peak %s requests/s %s for %d calls/s.", rounded(r.Peak), verb, calls)
		if r.Peak > waveAbove*float64(c.Load()) {
			note += " That is more than the arithmetic has: calls that had waited came back together with those that failed at once."
		}
		notes = append(notes, note)
	}
	return notes
}

// waveAbove is how many times what the arithmetic has must arrive before it is
// more than a matter of where a second begins.
const waveAbove = 1.05

// afterward says how calls went from when a failure that nobody made from here
// was over.
func (r stormRun) afterward() string {
	const begin = "Nothing was broken from here. "
	switch {
	case !r.Recovered.Ok:
		return begin + "At the end calls were not good, or not yet for a second."
	case r.Recovered.After > 0:
		return begin + fmt.Sprintf("From when the failure was due to be over it took %s until calls were good.", r.recovered())
	}
	return begin + "From when the failure was due to be over calls were good."
}

// machineNotes says what the machine had to do with it.
func (r stormRun) machineNotes() []string {
	var notes []string
	m := r.Machine
	if r.tooBusy() {
		note := fmt.Sprintf("This machine was too busy: calls were begun up to %s late.", cli.Show(m.LateMax))
		if m.Others >= 0 {
			note += fmt.Sprintf(" Others kept %s of its %d processors busy.", tenths(m.Others), m.Cores)
		}
		note += " The figures say more about that than about the policy: try again when it is idle"
		if r.Config.Instances*r.Config.Rate > 5*40 {
			note += ", or with less: --instances 5 --rate 40"
		}
		notes = append(notes, note+".")
	}
	if load := float64(r.Config.Load()); r.short() {
		note := fmt.Sprintf("By arithmetic the partner gets %s requests/s, and it got %s.", rounded(load), rounded(r.Peak))
		switch {
		case r.flat > 0 && (r.flat < load || r.tooBusy()):
			note += fmt.Sprintf(" Making and answering them, and nothing else, this machine can do %s/s just now.", rounded(r.flat))
		case r.flat > 0:
			note += fmt.Sprintf(" It was not for the machine, which can do %s/s: attempts that wait for their limit come later than those that fail at once.", rounded(r.flat))
		}
		notes = append(notes, note)
	}
	const few = 20 // of which one at most
	if n := r.Attempts.Unsent; n > (r.Attempts.First+r.Attempts.Retried)/few {
		notes = append(notes, fmt.Sprintf("%d attempts ended before anything could be sent: no connection came free, or was made in time.", n))
	}
	if n := r.Calls.Dropped; n > 0 {
		notes = append(notes, fmt.Sprintf("%d calls were not begun: too many were under way.", n))
	}
	return notes
}

// compareNotes says what to notice in several runs.
func compareNotes(runs []stormRun) []string {
	var notes []string
	var back, not []string
	for _, r := range runs {
		word := r.Config.Policy.String()
		switch {
		case r.Interrupted:
		case r.Recovered.Ok:
			back = append(back, word)
		default:
			not = append(not, word)
		}
	}
	if len(not) > 0 && len(back) > 0 {
		notes = append(notes, fmt.Sprintf("The failure was over at the same time for all. With %s the storm went on by itself: it arrives faster than the partner can work it off. Waiting moves retries, it does not remove them; with %s there were few enough.",
			strings.Join(not, ", "), strings.Join(back, ", ")))
	}
	for _, r := range runs {
		if m := r.machineNotes(); len(m) > 0 && !r.Interrupted {
			notes = append(notes, r.Config.Policy.String()+": "+strings.Join(m, " "))
		}
	}
	return notes
}
