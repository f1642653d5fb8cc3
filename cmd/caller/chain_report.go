package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math/big"
	"strconv"
	"strings"

	"chaoslab/labs/deadlinechain"
)

// chainSchema names the form of a chain's JSON line.
const chainSchema = "caller.chain/1"

// chainHead is what was run, as JSON shows it. Options that are off are left out.
type chainHead struct {
	Schema  string               `json:"schema"`
	Source  string               `json:"source"`
	Hops    int                  `json:"hops"`
	Tries   any                  `json:"tries"` // a number, or one for each hop that tries
	Cost    int64                `json:"cost"`  // 0: all that the leaf is given
	Budget  int64                `json:"budget"`
	Fails   int64                `json:"fails"`
	Policy  deadlinechain.Policy `json:"policy"`
	PerTry  int64                `json:"per_try,omitempty"`
	Backoff any                  `json:"backoff,omitempty"` // this and the next ones as tries
	OwnWork any                  `json:"own_work,omitempty"`
	AtOnce  any                  `json:"parallel,omitempty"`
	Own     any                  `json:"hop_budget,omitempty"`
	Cap     int64                `json:"backoff_cap,omitempty"`
	Jitter  bool                 `json:"jitter,omitempty"`
	Random  string               `json:"random_cost,omitempty"` // cost is then what the hops take it to be
	Seed    *uint64              `json:"seed,omitempty"`        // where anything is random
	Lasting int64                `json:"permanent,omitempty"`
	Stop    bool                 `json:"stop,omitempty"`
}

// chainLine is a simulated run as JSON shows it.
type chainLine struct {
	chainHead
	OK        bool       `json:"ok"`
	LeafCalls *big.Int   `json:"leaf_calls"`
	AllCalls  *big.Int   `json:"all_calls"`
	Elapsed   *big.Int   `json:"elapsed"`
	Orphaned  *big.Int   `json:"orphaned"`
	Overlap   *big.Int   `json:"orphaned_overlap"`
	Entry     *big.Int   `json:"entry_elapsed"`
	LeafOK    *big.Int   `json:"leaf_ok"`
	Work      *big.Int   `json:"work"`
	Saved     *big.Int   `json:"saved,omitempty"`
	Calls     []*big.Int `json:"calls"` // of each hop, the entry first
	Told      [][]*int64 `json:"told"`  // to the tries of each hop, the entry's first
	ToldCut   bool       `json:"told_cut"`
	*timeLine            // with --real alone, beside the measured one
}

func (o *chainOptions) head(c deadlinechain.Chain, source string) chainHead {
	h := chainHead{
		Schema: chainSchema, Source: source, Hops: c.Hops, Tries: o.tries.asked(), Cost: c.Cost, Budget: c.Budget,
		Fails: c.Fails, Policy: c.Policy, PerTry: c.PerTry, Backoff: o.backoff.asked(), OwnWork: o.ownWork.asked(),
		AtOnce: o.parallel.asked(), Cap: o.backoffCap.first(), Jitter: o.jitter, Lasting: c.Permanent, Stop: c.Stop,
	}
	if len(o.hopBudget.values) > 0 {
		h.Own = o.hopBudget.values
	}
	if o.cost.random() {
		h.Random = o.cost.text
	}
	if o.random() {
		h.Seed = &o.seed
	}
	return h
}

// asked returns the number, or all of a list, or nil for none.
func (n *numbers) asked() any {
	switch {
	case len(n.values) > 1:
		return n.values
	case n.first() == 0:
		return nil
	}
	return n.first()
}

func (o *chainOptions) line(r chainRun) chainLine {
	c := r.chain
	l := chainLine{
		chainHead: o.head(c, r.source),
		OK:        r.OK, LeafCalls: r.LeafCalls, AllCalls: r.AllCalls, Elapsed: r.Elapsed, Orphaned: r.Orphaned,
		Overlap: r.OrphanedOverlap, Entry: r.Entry, LeafOK: r.LeafOK, Work: r.Work, Saved: r.Saved,
		Calls: r.Calls, Told: [][]*int64{}, ToldCut: r.Trace.Cut,
	}
	if o.real {
		l.timeLine = newTimeLine(c.Hops, r.Trace)
	}
	for hop := 1; hop < c.Hops; hop++ {
		told := []*int64{}
		for _, t := range r.Trace.Told(hop) {
			if len(told) == maxTold {
				l.ToldCut = true
				break
			}
			told = append(told, toldOrNil(t))
		}
		l.Told = append(l.Told, told)
	}
	return l
}

// maxTold is how many tries of each hop a JSON line tells about.
const maxTold = 100

func toldOrNil(told int64) *int64 {
	if told == deadlinechain.NotTold {
		return nil
	}
	return &told
}

func reportChains(w io.Writer, o *chainOptions, runs []chainRun) error {
	switch o.format.Value {
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, r := range runs {
			if err := e.Encode(o.line(r)); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return o.csv(w, runs)
	}
	chainTable(w, o, runs)
	return nil
}

func (o *chainOptions) csv(w io.Writer, runs []chainRun) error {
	c := csv.NewWriter(w)
	_ = c.Write(chainColumns()) // its error comes with Flush
	for _, r := range runs {
		_ = c.Write(o.cells(r))
	}
	c.Flush()
	return c.Error()
}

// headColumns is how many of chainColumns say what was run.
const headColumns = 7

func chainColumns() []string {
	return []string{
		"source", "hops", "tries", "cost", "budget", "fails", "policy", "ok", "leaf_calls", "all_calls",
		"elapsed", "orphaned", "orphaned_overlap", "entry_elapsed", "leaf_ok", "work", "saved",
	}
}

// cells returns the run in the order of chainColumns.
func (o *chainOptions) cells(r chainRun) []string {
	l := o.line(r)
	saved := ""
	if l.Saved != nil {
		saved = l.Saved.String()
	}
	return append(o.headCells(l.chainHead),
		strconv.FormatBool(l.OK), l.LeafCalls.String(), l.AllCalls.String(), l.Elapsed.String(),
		l.Orphaned.String(), l.Overlap.String(), l.Entry.String(), l.LeafOK.String(), l.Work.String(), saved)
}

// headCells returns the first columns, up to the policy; lists have spaces for
// commas.
func (o *chainOptions) headCells(h chainHead) []string {
	cost := num64(h.Cost)
	if h.Random != "" {
		cost = h.Random
	}
	tries := strings.ReplaceAll(o.tries.String(), ",", " ")
	return []string{h.Source, strconv.Itoa(h.Hops), tries, cost, num64(h.Budget), num64(h.Fails), h.Policy.String()}
}

func num64(n int64) string { return strconv.FormatInt(n, 10) }
