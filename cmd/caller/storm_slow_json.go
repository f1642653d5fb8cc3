package main

import (
	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/storm"
)

// slowSchema names the form of a limit's JSON line.
const slowSchema = "caller.slow_partner/1"

// slowLine is a limit and what it came to, as JSON shows it.
type slowLine struct {
	Schema      string     `json:"schema"`
	Name        string     `json:"name"` // generous or tight
	Interrupted bool       `json:"interrupted"`
	Workers     int        `json:"workers"`
	UsualMS     cli.Millis `json:"usual_ms"`
	SlowMS      cli.Millis `json:"slow_ms"`
	Limit       cli.Millis `json:"limit_ms"`
	Patience    cli.Millis `json:"patience_ms"`
	Needs       int        `json:"needs_per_s"`
	Others      int        `json:"others_per_s"`
	Usual       slowPhase  `json:"usual"`
	Slow        slowPhase  `json:"slow"`
}

type slowPhase struct {
	AtMost float64    `json:"arithmetic_per_s"`
	Could  float64    `json:"could_per_s"`
	Ended  float64    `json:"ended_per_s"`
	Hold   cli.Millis `json:"hold_ms"`
	Needs  slowServed `json:"needs"`
	Others slowServed `json:"others"`
}

type slowServed struct {
	Due  int        `json:"due"`
	Good int        `json:"good"`
	P50  cli.Millis `json:"p50_ms"`
	P99  cli.Millis `json:"p99_ms"`
}

func (r slowResult) line() slowLine {
	c := r.Config
	return slowLine{
		slowSchema, r.name, r.Interrupted, c.Workers, cli.Millis(c.Usual), cli.Millis(c.Slow), cli.Millis(c.Limit),
		cli.Millis(c.Patience), c.Needs, c.Others, lineOfPhase(r.Usual), lineOfPhase(r.Failing),
	}
}

func lineOfPhase(p storm.SlowPhase) slowPhase {
	served := func(s storm.Served) slowServed {
		return slowServed{s.Due, s.Good, cli.Millis(s.P50), cli.Millis(s.P99)}
	}
	return slowPhase{thousandths(p.AtMost), thousandths(p.Could), thousandths(p.Ended), cli.Millis(p.Hold), served(p.Needs), served(p.Others)}
}
