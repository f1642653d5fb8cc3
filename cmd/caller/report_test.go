package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (renew with -update): got\n%s\nwant\n%s", path, got, want)
	}
	for line := range strings.Lines(got) {
		if strings.Contains(line, ": {value: ") {
			continue // it is to be pasted
		}
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > cli.Width && !strings.HasSuffix(name, "json") && !strings.HasSuffix(name, "csv") {
			t.Errorf("%s: %d columns, want at most %d: %s", path, n, cli.Width, line)
		}
	}
}

// withPartner returns m with the partner's account of it.
func withPartner(m measurement, v partnerView) measurement {
	m.partner = &v
	return m
}

func ms(d time.Duration) *cli.Millis { return (*cli.Millis)(&d) }

func TestReports(t *testing.T) {
	t.Parallel()
	gone := partnerView{
		Saw: sawRequest, Elapsed: ms(500500 * time.Microsecond), EndedBy: "client", How: "closed",
		Difference: ms(200 * time.Microsecond), Effect: new(bool),
	}
	yes := true
	told := partnerView{
		Saw: sawRequest, Elapsed: ms(300500 * time.Microsecond), EndedBy: "partner", How: "answered",
		Difference: ms(200 * time.Microsecond), Effect: &yes, Asked: ms(300 * time.Millisecond), Delivered: ms(300200 * time.Microsecond),
	}
	answered := partnerView{
		Saw: sawRequest, Elapsed: ms(9999900 * time.Microsecond), EndedBy: "partner", How: "answered",
		Difference: ms(-100 * time.Microsecond), Effect: new(bool), Asked: ms(300 * time.Millisecond), Delivered: ms(300200 * time.Microsecond),
	}
	long := measured(1, budgetcaller.Record{
		Class: budgetcaller.ClassBudgetExhausted, Phase: budgetcaller.PhaseFirstByte, Limit: budgetcaller.LimitBudget,
		Effect: budgetcaller.EffectUnknown, Configured: 9999 * time.Millisecond, Overshoot: 900 * time.Microsecond,
		Elapsed: 9999900 * time.Microsecond, Expected: -1, Err: budgetcaller.ErrNoBudget,
	})
	long.target = mustTarget(t, "http://127.0.0.1:45123/a/rather/long/path/that/goes/on?and=on")
	far := refused(1)
	far.target = mustTarget(t, "http://a-very-long-host-name.example.com:8080/")
	retry := measured(1, budgetcaller.Record{
		Class: budgetcaller.ClassStatus, Phase: budgetcaller.PhaseBody, Effect: budgetcaller.EffectAnswered,
		Status: 503, Bytes: 12, Expected: 12, RetryAfter: "3", Elapsed: 3 * time.Millisecond,
	})
	var many []measurement
	for n := 1; n <= 12; n++ {
		m := cut(n, 500*time.Millisecond, time.Duration(n)*100*time.Microsecond)
		many = append(many, withPartner(m, gone))
	}
	many = append(many, withPartner(refused(13), partnerView{Saw: sawNothing}))
	for _, c := range []struct {
		name string
		args []string
		of   []measurement
	}{
		{"one", []string{local, "--read-timeout", "500ms"}, []measurement{cut(1, 500*time.Millisecond, 700*time.Microsecond)}},
		{"one asked", []string{local, "--partner", local}, []measurement{withPartner(whole(1, 300700*time.Microsecond), told)}},
		{"status", []string{local}, []measurement{retry}},
		{"partner", []string{local, local, "--partner", local}, []measurement{withPartner(cut(1, 500*time.Millisecond, 700*time.Microsecond), gone), withPartner(long, answered)}},
		{"runs", []string{local, "-n", "13", "--partner", local}, many},
		{"long host", []string{local, local}, []measurement{far, refused(1)}},
		{"attempts", []string{local, "--attempts", "3", "--partner", local}, []measurement{retried(1)}},
		{"attempts of runs", []string{local, "-n", "3", "--attempts", "3"}, []measurement{retried(1), once(2), retried(3)}},
		{"nothing", []string{local}, nil},
	} {
		for _, format := range []string{"table", "json", "csv"} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				t.Parallel()
				o, _, _ := parseArgs(t, "", append(c.args, "--format", format)...)
				var out, errs bytes.Buffer
				r := newReport(o, cli.Streams{Out: &out, Err: &errs})
				tl := newTally(localTarget())
				for _, m := range c.of {
					tl.add(m)
					if err := r.add(m); err != nil {
						t.Fatal(err)
					}
				}
				if err := r.end([]summary{tl.summary()}); err != nil {
					t.Fatal(err)
				}
				golden(t, "report_"+strings.ReplaceAll(c.name, " ", "_")+"."+format, out.String())
				if told := strings.Contains(out.String()+errs.String(), "(default)"); !told && len(c.of) > 0 {
					t.Errorf("the defaults in force are not told: stdout %q, stderr %q", out.String(), errs.String())
				}
			})
		}
	}
}

func TestMeasureLineReadsBack(t *testing.T) {
	t.Parallel()
	want := cut(7, 500*time.Millisecond, 700*time.Microsecond).line()
	want.Phases = phaseTimes{{budgetcaller.PhaseLookup, 0}, {budgetcaller.PhaseConnect, cli.Millis(200 * time.Microsecond)}, {budgetcaller.PhaseFirstByte, cli.Millis(500 * time.Millisecond)}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"phases_ms":{"lookup":0,"connect":0.2,"first_byte":500}`; !strings.Contains(string(text), want) {
		t.Errorf("line %s, want %s in it", text, want)
	}
	var back measureLine
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(back)
	if string(again) != string(text) {
		t.Errorf("read back\n%s\nwant\n%s", again, text)
	}
}

// retried is a call of two attempts that ended because a third did not fit.
func retried(run int) measurement {
	first, last := cut(1, 500*time.Millisecond, 700*time.Microsecond).last(), whole(1, 3*time.Millisecond).last()
	last.Class, last.Status, last.RetryAfter, last.Start = budgetcaller.ClassStatus, 503, "9", first.Start.Add(600*time.Millisecond)
	end := recordOfCall(&budgetcaller.Error{
		Class: budgetcaller.ClassBelowFloor, Limit: budgetcaller.LimitFloor, Effect: budgetcaller.EffectUnknown,
		Why: "the Retry-After does not fit", Left: 2 * time.Second, Needed: 9 * time.Second,
		Attempts: []budgetcaller.Record{first, last}, Last: &last,
	}, time.Minute)
	did, not := true, false
	views := []*partnerView{
		{Saw: sawRequest, Elapsed: ms(500500 * time.Microsecond), EndedBy: "client", How: "closed", Difference: ms(200 * time.Microsecond), Effect: &did},
		{Saw: sawRequest, Elapsed: ms(2900 * time.Microsecond), EndedBy: "partner", How: "answered", Difference: ms(100 * time.Microsecond), Effect: &not},
	}
	return measurement{
		run: run, target: localTarget(), key: "k1", ending: &ending{end, "the Retry-After does not fit"},
		result:  budgetcaller.Result{Attempts: []budgetcaller.Record{first, last}, Elapsed: 603 * time.Millisecond},
		partner: views[1], views: views,
	}
}

// once is a call that needed no second attempt.
func once(run int) measurement {
	m := whole(run, 3*time.Millisecond)
	m.ending = &ending{m.result.Last(), "answered"}
	return m
}

// failingWriter is a full disk.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestReportsSayWhenTheyCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "json", "csv"} {
		o, _, _ := parseArgs(t, "", local, "--format", format)
		r := newReport(o, cli.Streams{Out: failingWriter{}, Err: &bytes.Buffer{}})
		err := r.add(whole(1, time.Millisecond))
		if err == nil {
			err = r.end(nil)
		}
		if err == nil {
			t.Errorf("%s to a writer that fails: no error", format)
		}
	}
}

func TestTableTellsURLsApartWithin80Columns(t *testing.T) {
	t.Parallel()
	long := local + strings.Repeat("a/long/path/", 80) + "end"
	for _, runs := range []string{"1", "2"} {
		o, _, _ := parseArgs(t, "", local+"a?b=c", local, long, "-n", runs, "--partner", local)
		var out bytes.Buffer
		r := newReport(o, cli.Streams{Out: &out})
		var sums []summary
		for _, target := range o.targets {
			m := withPartner(cut(1, 500*time.Millisecond, 700*time.Microsecond), partnerView{
				Saw: sawRequest, Elapsed: ms(501100 * time.Microsecond), EndedBy: "client", Difference: ms(29900 * time.Microsecond),
			})
			m.target = target
			if err := r.add(m); err != nil {
				t.Fatal(err)
			}
			tl := newTally(target)
			tl.add(m)
			sums = append(sums, tl.summary())
		}
		if err := r.end(sums); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\n/a?b=c", "\n/a/long/path/a", "ong/path/end", "501.1 (+30)\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("-n %s: no %q in\n%s", runs, want, out.String())
			}
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > cli.Width {
				t.Errorf("-n %s: %d columns, want at most %d: %s", runs, n, cli.Width, line)
			}
		}
	}
	// One run of one long URL is told in full.
	o, _, _ := parseArgs(t, "", long)
	var out bytes.Buffer
	r := newReport(o, cli.Streams{Out: &out})
	m := whole(1, time.Millisecond)
	m.target = o.targets[0]
	if err := r.add(m); err != nil {
		t.Fatal(err)
	}
	if err := r.end(nil); err != nil {
		t.Fatal(err)
	}
	if joined := strings.Join(strings.Fields(out.String()), ""); !strings.Contains(joined, long) {
		t.Errorf("got\n%s\nwant the whole of %s", out.String(), long)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > cli.Width {
			t.Errorf("%d columns, want at most %d: %s", n, cli.Width, line)
		}
	}
}
