package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/storm"
)

// stormSchema names the form of a run's JSON line.
const stormSchema = "caller.storm/1"

// stormLine is a run as JSON shows it.
type stormLine struct {
	Schema      string       `json:"schema"`
	Policy      storm.Policy `json:"policy"`
	Interrupted bool         `json:"interrupted"`

	Instances int        `json:"instances"`
	Rate      int        `json:"rate_per_s"` // of one instance
	Attempts  int        `json:"attempts"`
	Attempt   cli.Millis `json:"attempt_ms"`
	Patience  cli.Millis `json:"patience_ms"`
	Budget    cli.Millis `json:"budget_ms"` // of one call
	Healthy   cli.Millis `json:"healthy_ms"`
	Failure   cli.Millis `json:"failure_ms"`
	Recovery  cli.Millis `json:"recovery_ms"`
	URL       string     `json:"url,omitempty"` // that was called as it is
	Usual     string     `json:"usual"`         // the partner's fault when well
	Failing   string     `json:"failing"`       // and when not
	Capacity  *float64   `json:"capacity_per_s"`

	Arithmetic int              `json:"arithmetic_per_s"` // instances x rate x attempts
	Peak       float64          `json:"peak_per_s"`       // at the partner; sent, where nobody counts
	Calls      stormCalls       `json:"calls"`
	Sent       stormSent        `json:"sent"`
	Partner    *stormCounts     `json:"partner"`      // null: nobody counts there
	Recovered  *cli.Millis      `json:"recovered_ms"` // null: not within the run
	Latency    map[string]stats `json:"latency_ms"`   // of calls by the phase they fell due in
	Machine    stormMachine     `json:"machine"`
	Seconds    []stormSecond    `json:"seconds"`
}

type stormCalls struct {
	Due      int `json:"due"`
	Good     int `json:"good"`
	Late     int `json:"late"`
	Failed   int `json:"failed"`
	Dropped  int `json:"dropped"`
	Canceled int `json:"canceled"`
}

type stormSent struct {
	First       int          `json:"first"`
	Retried     int          `json:"retried"`
	Unsent      int          `json:"unsent"` // attempts that ended before anything was sent
	Unaccounted *int         `json:"unaccounted"`
	Classes     []classCount `json:"classes"`
}

type stormCounts struct {
	Received    uint64     `json:"received"`
	Effects     uint64     `json:"effects"`
	ClientsLeft uint64     `json:"clients_left"`
	Orphaned    cli.Millis `json:"orphaned_overlap_ms"`
}

type stats struct {
	N   int        `json:"n"`
	P50 cli.Millis `json:"p50"`
	P99 cli.Millis `json:"p99"`
	Max cli.Millis `json:"max"`
}

// stormMachine says what the machine did; null is what is not known.
type stormMachine struct {
	Cores   int        `json:"cores"`
	Busy    *float64   `json:"busy"`
	Others  *float64   `json:"others_busy"`
	LateP99 cli.Millis `json:"late_p99_ms"`
	LateMax cli.Millis `json:"late_max_ms"`
	Most    *float64   `json:"most_per_s"` // requests/s it can do, measured where the peak was short
}

type stormSecond struct {
	From      cli.Millis   `json:"from_ms"`
	To        cli.Millis   `json:"to_ms"`
	Phase     storm.Phase  `json:"phase"`
	Due       int          `json:"due"`
	First     int          `json:"first"`
	Retried   int          `json:"retried"`
	Rate      float64      `json:"at_partner_per_s"`
	Partner   *stormCounts `json:"partner"`
	Good      int          `json:"good"`
	Late      int          `json:"late"`
	Failed    int          `json:"failed"`
	Dropped   int          `json:"dropped"`
	Throttled int          `json:"throttled"`
	Open      int          `json:"breaker_open"`
	Busy      *float64     `json:"busy"`
}

// countsLine returns what a partner counted, or null where nobody did.
func (r stormRun) countsLine(c storm.Counts) *stormCounts {
	if r.Uncounted {
		return nil
	}
	return &stormCounts{c.Received, c.Effects, c.ClientsLeft, cli.Millis(c.Orphaned)}
}

// known returns v rounded to a thousandth, or null if it is not known.
func known(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	v = thousandths(v)
	return &v
}

func thousandths(v float64) float64 { return math.Round(v*1000) / 1000 }

func (r stormRun) line() stormLine {
	c := r.Config
	l := stormLine{
		Schema: stormSchema, Policy: c.Policy, Interrupted: r.Interrupted,
		Instances: c.Instances, Rate: c.Rate, Attempts: c.Attempts,
		Attempt: cli.Millis(c.Attempt), Patience: cli.Millis(c.Patience), Budget: cli.Millis(r.Budget),
		Healthy: cli.Millis(c.Healthy), Failure: cli.Millis(c.Failure), Recovery: cli.Millis(c.Recovery),
		URL: r.url, Usual: r.usual, Failing: r.failing, Capacity: known(r.capacity, r.capacity > 0),
		Arithmetic: c.Load(), Peak: thousandths(r.Peak),
		Calls:   stormCalls(r.Calls),
		Sent:    stormSent{r.Attempts.First, r.Attempts.Retried, r.Attempts.Unsent, nil, []classCount{}},
		Partner: r.countsLine(r.Partner),
		Latency: map[string]stats{},
		Machine: stormMachine{
			r.Machine.Cores, known(r.Machine.Busy, r.Machine.Busy >= 0), known(r.Machine.Others, r.Machine.Others >= 0),
			cli.Millis(r.Machine.LateP99), cli.Millis(r.Machine.LateMax), known(r.flat, r.flat > 0),
		},
		Seconds: []stormSecond{},
	}
	if !r.Uncounted {
		l.Sent.Unaccounted = &r.Attempts.Unaccounted
	}
	for _, k := range r.Attempts.Classes {
		l.Sent.Classes = append(l.Sent.Classes, classCount{k.Class, k.N})
	}
	if r.Recovered.Ok {
		after := cli.Millis(r.Recovered.After)
		l.Recovered = &after
	}
	for phase, s := range r.Latency {
		if s.N > 0 {
			l.Latency[storm.Phase(phase).String()] = stats{s.N, cli.Millis(s.P50), cli.Millis(s.P99), cli.Millis(s.Max)}
		}
	}
	for _, s := range r.Seconds {
		l.Seconds = append(l.Seconds, stormSecond{
			cli.Millis(s.From), cli.Millis(s.To), s.Phase, s.Due, s.First, s.Retried, thousandths(s.Rate), r.countsLine(s.Partner),
			s.Good, s.Late, s.Failed, s.Dropped, s.Throttled, s.BreakerOpen, known(s.Busy, s.Busy >= 0),
		})
	}
	return l
}

func reportStorm(w io.Writer, o *stormOptions, runs []stormRun) error {
	switch o.format.Value {
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, r := range runs {
			if err := e.Encode(r.line()); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return stormCSV(w, runs)
	}
	switch len(runs) {
	case 0:
	case 1:
		stormTable(w, runs[0])
	default:
		stormCompare(w, runs)
	}
	return nil
}

func stormCSV(w io.Writer, runs []stormRun) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{ // its error comes with Flush
		"policy", "from_ms", "to_ms", "phase", "due", "first", "retried", "at_partner_per_s",
		"good", "late", "failed", "dropped", "throttled", "breaker_open", "orphaned_overlap_ms",
	})
	for _, r := range runs {
		for _, s := range r.Seconds {
			row := []string{r.Config.Policy.String(), cli.Millis(s.From).String(), cli.Millis(s.To).String(), s.Phase.String()}
			for _, n := range []int{s.Due, s.First, s.Retried, int(math.Round(s.Rate)), s.Good, s.Late, s.Failed, s.Dropped, s.Throttled, s.BreakerOpen} {
				row = append(row, strconv.Itoa(n))
			}
			orphaned := ""
			if !r.Uncounted {
				orphaned = cli.Millis(s.Partner.Orphaned).String()
			}
			_ = c.Write(append(row, orphaned))
		}
	}
	c.Flush()
	return c.Error()
}
