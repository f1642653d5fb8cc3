package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/labs/referee/confine"
	"chaoslab/labs/sandbox"
)

// doctorOptions is what the flags of doctor say, and what a test puts there.
type doctorOptions struct {
	format cli.Choice
	look   func(name string) (string, error)
	read   func(path string) (string, error)
	hole   func() error
	inside func() error
	bound  func() error
	sleeps func(ctx context.Context) []time.Duration
}

func newDoctor(s cli.Streams) *cobra.Command {
	o := &doctorOptions{
		format: cli.Format("table", "json"), look: exec.LookPath, read: readSmall,
		hole: tryBlackHole, inside: sandbox.Available, bound: confine.Available, sleeps: measureSleeps,
	}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "what this machine can do, and what to use instead",
		Long: `doctor looks at this machine: the languages for the exercises, whether there can
be a black hole and a private network, how exact its timers are, and how long
the kernel itself goes on connecting. Nothing leaves loopback, and nothing is
changed.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDoctor(c.Context(), o, s) },
	}
	c.Flags().Var(&o.format, "format", "how it is printed")
	return c
}

// symptom is one line of what doctor found.
type symptom struct {
	Schema string `json:"schema"` // caller.doctor/1
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"` // what to use instead
}

func runDoctor(ctx context.Context, o *doctorOptions, s cli.Streams) error {
	var all []symptom
	for _, look := range []func() symptom{
		func() symptom { return o.languages() },
		func() symptom { return o.blackHole() },
		func() symptom { return o.sandbox() },
		func() symptom { return o.confinement() },
		func() symptom { return o.kernel() },
		func() symptom { return o.timers(ctx) },
		func() symptom { return o.table() },
		func() symptom {
			return symptom{Name: "processors", OK: runtime.NumCPU() > 1, Found: fmt.Sprintf("%d, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH), Advice: adviceIf(runtime.NumCPU() < 2, "close what else is running before you grade")}
		},
	} {
		if ctx.Err() != nil {
			return cli.Exit(cli.ExitInterrupted, nil)
		}
		found := look()
		found.Schema = "caller.doctor/1"
		all = append(all, found)
	}
	if o.format.Value == "json" {
		enc := json.NewEncoder(s.Out)
		enc.SetEscapeHTML(false)
		for _, one := range all {
			if err := enc.Encode(one); err != nil {
				return err
			}
		}
		return nil
	}
	printDoctor(s.Out, all)
	return nil
}

func printDoctor(w io.Writer, all []symptom) {
	for _, one := range all {
		sign := "ok"
		if !one.OK {
			sign = "--"
		}
		fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%s  %-14s  ", sign, one.Name), one.Found))
		if one.Advice != "" {
			fmt.Fprintln(w, cli.Paragraph(strings.Repeat(" ", 20)+"-> ", one.Advice))
		}
	}
}

func adviceIf(needed bool, text string) string {
	if needed {
		return text
	}
	return ""
}

// languages says in which languages exercises can be done here.
func (o *doctorOptions) languages() symptom {
	var here, missing []string
	for _, l := range []struct{ name, program string }{
		{"go", "go"}, {"python", "python3"}, {"sh", "curl"}, {"node", "node"}, {"java", "java"}, {"ruby", "ruby"}, {"php", "php"}, {"perl", "perl"},
	} {
		if _, err := o.look(l.program); err != nil {
			missing = append(missing, l.name)
			continue
		}
		here = append(here, l.name)
	}
	starters := slices.Contains(here, "go") || slices.Contains(here, "python")
	found := "here: " + strings.Join(here, ", ")
	if len(missing) > 0 {
		found += "; not here: " + strings.Join(missing, ", ")
	}
	return symptom{
		Name: "languages", OK: starters, Found: found,
		Advice: adviceIf(!starters, "the starters are in Go and Python: install one; a program in any other language can be graded all the same"),
	}
}

func (o *doctorOptions) blackHole() symptom {
	if err := o.hole(); err != nil {
		return symptom{Name: "black hole", Found: "none on loopback: " + err.Error(), Advice: "leave out the mode connect-timeout and the scenarios named black-hole"}
	}
	return symptom{Name: "black hole", OK: true, Found: "on loopback, without root: partner --mode connect-timeout"}
}

// tryBlackHole makes one and takes it away again.
func tryBlackHole() error {
	spec, err := faults.Parse("connect-timeout")
	if err != nil {
		return err
	}
	p, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{spec}}}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return p.Close(ctx)
}

func (o *doctorOptions) sandbox() symptom {
	net := sandbox.BlackHole().String()
	if err := o.inside(); err != nil {
		return symptom{
			Name: "sandbox", Found: fmt.Sprintf("none: %v; outside one, %s may be refused or answered", err, net),
			Advice: "use the black hole on loopback; call " + net + " only where you know where it leads",
		}
	}
	return symptom{Name: "sandbox", OK: true, Found: fmt.Sprintf("a private network in which %s is a real black hole: caller sandbox; outside it, do not rely on that", net)}
}

// confinement says whether a student's program can be kept from writing elsewhere.
func (o *doctorOptions) confinement() symptom {
	if err := o.bound(); err != nil {
		return symptom{Name: "confinement", Found: err.Error(), Advice: "gradings run all the same; what a program writes outside its folder is not prevented"}
	}
	return symptom{Name: "confinement", OK: true, Found: "Landlock: a graded program can write only in its folder, in $TMPDIR and in caches"}
}

// kernel says how long the system itself goes on connecting.
func (o *doctorOptions) kernel() symptom {
	text, err := o.read("/proc/sys/net/ipv4/tcp_syn_retries")
	retries, bad := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || bad != nil || retries < sandbox.MinSynRetries || retries > sandbox.MaxSynRetries {
		return symptom{Name: "kernel limit", Found: "not known on this system", Advice: "set a connect limit of your own, always"}
	}
	return symptom{
		Name: "kernel limit", OK: true,
		Found: fmt.Sprintf("tcp_syn_retries=%d: without a limit of yours, a connect that nobody answers lasts about %v", retries, sandbox.GiveUp(retries)),
	}
}

// How the timers are measured.
const (
	doctorSleep  = 5 * time.Millisecond
	doctorSleeps = 40
	doctorLate   = 5 * time.Millisecond // more at the median is worth a word
)

func measureSleeps(ctx context.Context) []time.Duration {
	var late []time.Duration
	for range doctorSleeps {
		start := time.Now()
		t := time.NewTimer(doctorSleep)
		select {
		case <-t.C:
			late = append(late, time.Since(start)-doctorSleep)
		case <-ctx.Done():
			t.Stop()
			return late
		}
	}
	return late
}

func (o *doctorOptions) timers(ctx context.Context) symptom {
	late := o.sleeps(ctx)
	if len(late) == 0 {
		return symptom{Name: "timers", Found: "not measured"}
	}
	slices.Sort(late)
	median, most := late[len(late)/2], late[len(late)-1]
	return symptom{
		Name: "timers", OK: median <= doctorLate,
		Found:  fmt.Sprintf("a sleep of %v wakes %s late at the median, %s at most (%d sleeps)", doctorSleep, cli.Show(median), cli.Show(most), len(late)),
		Advice: adviceIf(median > doctorLate, "this machine is busy: gradings may be inconclusive, and figures below 10 ms mean little"),
	}
}

// table says whether connects without an answer can be seen.
func (o *doctorOptions) table() symptom {
	if _, err := o.read("/proc/self/net/tcp"); err != nil {
		return symptom{Name: "socket table", Found: "cannot be read: gradings cannot see a connect that nobody answers", Advice: "grade on Linux"}
	}
	return symptom{Name: "socket table", OK: true, Found: "readable: gradings see connects that nobody answers"}
}

// readSmall reads the beginning of a file of the kernel.
func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, 512)
	n, err := f.Read(b)
	if err != nil && n == 0 {
		return "", err
	}
	return string(b[:n]), nil
}
