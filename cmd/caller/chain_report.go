package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"

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
	Backoff int64                `json:"backoff,omitempty"`
	Cap     int64                `json:"backoff_cap,omitempty"`
	OwnWork int64                `json:"own_work,omitempty"`
	AtOnce  int                  `json:"parallel,omitempty"`
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
}

func newChainHead(c deadlinechain.Chain, source string) chainHead {
	h := chainHead{
		Schema: chainSchema, Source: source, Hops: c.Hops, Tries: c.Tries, Cost: c.Cost, Budget: c.Budget,
		Fails: c.Fails, Policy: c.Policy, PerTry: c.PerTry, Backoff: c.Backoff.Base, Cap: c.Backoff.Cap,
		OwnWork: c.Work, AtOnce: c.Parallel, Lasting: c.Permanent, Stop: c.Stop,
	}
	if tries := triesPerHop(c); len(tries) > 0 {
		h.Tries = tries
	}
	return h
}

func (r chainRun) line() chainLine {
	c := r.chain
	l := chainLine{
		chainHead: newChainHead(c, r.source),
		OK:        r.OK, LeafCalls: r.LeafCalls, AllCalls: r.AllCalls, Elapsed: r.Elapsed, Orphaned: r.Orphaned,
		Overlap: r.OrphanedOverlap, Entry: r.Entry, LeafOK: r.LeafOK, Work: r.Work, Saved: r.Saved,
		Calls: r.Calls, Told: [][]*int64{}, ToldCut: r.Trace.Cut,
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

// triesPerHop returns the tries of each hop that tries, if they were given so.
func triesPerHop(c deadlinechain.Chain) []int {
	var tries []int
	for _, h := range c.PerHop {
		tries = append(tries, h.Tries)
	}
	return tries
}

func reportChains(w io.Writer, o *chainOptions, runs []chainRun) error {
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
		return chainCSV(w, runs)
	}
	chainTable(w, o, runs)
	return nil
}

func chainCSV(w io.Writer, runs []chainRun) error {
	c := csv.NewWriter(w)
	_ = c.Write(chainColumns()) // its error comes with Flush
	for _, r := range runs {
		_ = c.Write(r.cells())
	}
	c.Flush()
	return c.Error()
}

func chainColumns() []string {
	return []string{
		"source", "hops", "tries", "cost", "budget", "fails", "policy", "ok", "leaf_calls", "all_calls",
		"elapsed", "orphaned", "orphaned_overlap", "entry_elapsed", "leaf_ok", "work", "saved",
	}
}

// cells returns the run in the order of chainColumns.
func (r chainRun) cells() []string {
	l := r.line()
	saved := ""
	if l.Saved != nil {
		saved = l.Saved.String()
	}
	return append(l.cells(r.chain),
		strconv.FormatBool(l.OK), l.LeafCalls.String(), l.AllCalls.String(), l.Elapsed.String(),
		l.Orphaned.String(), l.Overlap.String(), l.Entry.String(), l.LeafOK.String(), l.Work.String(), saved)
}

// cells returns the first columns, up to the policy.
func (h chainHead) cells(c deadlinechain.Chain) []string {
	return []string{h.Source, strconv.Itoa(h.Hops), inShort(c), num64(h.Cost), num64(h.Budget), num64(h.Fails), h.Policy.String()}
}

func num64(n int64) string { return strconv.FormatInt(n, 10) }

// inShort writes the tries as --tries takes them, with spaces for commas.
func inShort(c deadlinechain.Chain) string {
	tries := triesPerHop(c)
	if len(tries) == 0 {
		return strconv.Itoa(c.Tries)
	}
	return fmt.Sprint(tries)[1 : len(fmt.Sprint(tries))-1]
}
