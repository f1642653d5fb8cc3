package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs"
	"chaoslab/labs/referee"
	"chaoslab/labs/referee/folder"
)

// labListLine is an exercise and how far one is, in JSON.
type labListLine struct {
	Schema   string   `json:"schema"` // lab.list/1
	Number   int      `json:"number"`
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Minutes  int      `json:"minutes"`
	BuildsOn []int    `json:"builds_on"`
	Langs    []string `json:"languages"`
	Progress string   `json:"progress"` // a word: new, started, passed, or N of M
	Hints    int      `json:"hints"`
}

func newLabList(s cli.Streams, o *labOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "the exercises, and how far you are",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return runLabList(o, s) },
	}
	c.Flags().Var(&o.format, "format", "how it is printed")
	return c
}

func runLabList(o *labOptions, s cli.Streams) error {
	all, err := labs.All()
	if err != nil {
		return err
	}
	var lines []labListLine
	for _, lab := range all {
		lines = append(lines, o.listLine(lab))
	}
	switch o.format.Value {
	case "json":
		enc := json.NewEncoder(s.Out)
		for _, l := range lines {
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		w := csv.NewWriter(s.Out)
		_ = w.Write([]string{"number", "name", "minutes", "builds_on", "languages", "progress", "hints"})
		for _, l := range lines {
			_ = w.Write([]string{strconv.Itoa(l.Number), l.Name, strconv.Itoa(l.Minutes), labNumbers(l.BuildsOn), strings.Join(l.Langs, " "), l.Progress, strconv.Itoa(l.Hints)})
		}
		w.Flush()
		return w.Error()
	}
	t := cli.NewTable(s.Out, "no", "exercise", "min", "after", "also", "you", "hints")
	for _, l := range lines {
		hints := "-"
		if l.Hints > 0 {
			hints = strconv.Itoa(l.Hints)
		}
		t.AppendRow([]any{l.Number, l.Title, l.Minutes, labNumbers(l.BuildsOn), labOthers(l.Langs), l.Progress, hints})
	}
	t.Render()
	fmt.Fprintln(s.Err, "\nStarters are in go and python, and in what stands under \"also\".\nBegin: caller lab start 1")
	return nil
}

// listLine describes an exercise as it stands in the folder at hand.
func (o *labOptions) listLine(lab *referee.Lab) labListLine {
	l := labListLine{
		Schema: "lab.list/1", Number: lab.Number, Name: lab.Name, Title: lab.Title, Minutes: lab.Minutes,
		BuildsOn: lab.BuildsOn, Langs: folder.Langs(lab), Progress: "-",
	}
	f, err := o.open(lab)
	if err != nil {
		return l
	}
	l.Hints = f.Progress.Hints
	l.Progress = "started"
	if n := len(f.Progress.Grades); n > 0 {
		last := f.Progress.Grades[n-1]
		l.Progress = fmt.Sprintf("%d of %d", last.Passed, last.Of)
	}
	if f.Progress.Passed != nil {
		l.Progress = "passed"
	}
	return l
}

// labOthers are the languages that not every exercise has a starter in.
func labOthers(langs []string) string {
	var others []string
	for _, l := range langs {
		if l != "go" && l != "python" {
			others = append(others, l)
		}
	}
	if len(others) == 0 {
		return "-"
	}
	return strings.Join(others, " ")
}

func labNumbers(list []int) string {
	if len(list) == 0 {
		return "-"
	}
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, " ")
}
