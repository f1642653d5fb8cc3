package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"chaoslab/cmd/internal/cli"
)

// inWords returns the view in two short lines.
func (v *partnerView) inWords() string {
	switch {
	case v == nil:
		return "-"
	case v.Saw == sawUnknown:
		return "unknown"
	case v.Saw == sawNothing:
		return "nothing"
	}
	how := v.How
	switch v.EndedBy {
	case "client":
		how = "client left"
	case "":
		return "still at it"
	}
	return fmt.Sprintf("%s\n%s (%s)", how, short(time.Duration(*v.Elapsed)), shortDifference(time.Duration(*v.Difference)))
}

// shortDifference returns d with its sign, short enough to stand behind what
// short returns in a cell of partnerWidth.
func shortDifference(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case math.Abs(ms) < 9.95:
		return fmt.Sprintf("%+.1f", ms)
	case math.Abs(ms) < 999.5:
		return fmt.Sprintf("%+.0f", ms)
	}
	return fmt.Sprintf("%+.0fs", d.Seconds())
}

// short returns d in five characters: milliseconds as far as they go.
func short(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	case ms < 100_000:
		return strconv.FormatFloat(ms, 'f', 0, 64)
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + "s"
}

// account tells the view in one sentence, empty if nobody was asked.
func (v *partnerView) account() string {
	switch {
	case v == nil:
		return ""
	case v.Saw == sawUnknown:
		return "its record could not be read"
	case v.Saw == sawNothing:
		return "saw nothing of it"
	}
	text := "saw a connection, no whole request"
	if v.Saw == sawRequest {
		text = "saw the whole request"
	}
	switch v.EndedBy {
	case "client":
		text += "; the client left"
	case "partner":
		text += "; it ended it: " + v.How
	default:
		return text + "; it is still at it"
	}
	text += fmt.Sprintf(" after %s (ours less its: %+.1f ms)", cli.Show(time.Duration(*v.Elapsed)), float64(*v.Difference)/float64(time.Millisecond))
	if v.Asked != nil {
		text += fmt.Sprintf("; delay asked %s, delivered %s", cli.Show(time.Duration(*v.Asked)), cli.Show(time.Duration(*v.Delivered)))
	}
	if v.Pending {
		return text + "; it had not done the work then, and may still do it"
	}
	if v.Effect == nil {
		return text
	}
	if *v.Effect {
		return text + "; it did the work"
	}
	return text + "; it did not do the work"
}
