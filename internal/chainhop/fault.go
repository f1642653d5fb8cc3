package chainhop

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"chaoslab/faults"
)

// The words of the parameter policy.
const (
	PolicyNone = "none" // no deadline at all
	PolicyEach = "each" // every hop starts its own budget when it is called
	PolicyPass = "pass" // the deadline that came is handed down
)

// The words of the parameter leaving.
const (
	leavingPolicy = "policy"
	leavingStop   = "stop"
	leavingWork   = "work"
)

// faultName is the mode's word.
const faultName = "chain"

// none is the word for no next hop and for nothing to skip.
const none = "none"

// The bounds of the parameters.
const (
	maxTries    = 100
	maxParallel = 100
	maxWorkers  = 1 << 16
)

// Fault returns the fault, for faults.Modes.With.
func Fault() faults.Fault { return Scripted(nil) }

// Script says how a call of a leaf goes that came by way: how long it works and
// the status with which it answers if it comes to that end. A way is what leads
// there from the entry: for each hop on it, which of its calls at once and the
// how manyth try, both from 1, as in /1.2/3.1.
type Script func(way string) (work time.Duration, status int)

// Scripted is Fault for a chain that is to go as written: its leaves do not ask
// their own work but the script, and do what it says without asking whether
// there is time for more than needs. Every hop then tells the next, in
// HeaderWay, how it was come by.
func Scripted(script Script) faults.Fault {
	return faults.Custom(faults.Fault{
		Name: faultName, Effect: "from the leaf", Curl: "0", Class: "ok",
		Summary: "is one hop of a chain: works, then calls the next under a policy; without a next it is the leaf",
		Params: []faults.Param{
			{Name: "next", Kind: faults.KindText, Default: none, Help: "URL of the next hop, on loopback; none: it is the leaf"},
			{Name: "policy", Kind: faults.KindWord, Default: PolicyPass, Words: []string{PolicyNone, PolicyEach, PolicyPass}, Help: "none: no deadline (within an hour); each: a budget of its own for every request; pass: the deadline that came, at most budget"},
			{Name: "budget", Kind: faults.KindDuration, Default: "30s", Min: int64(time.Millisecond), Max: int64(faults.MaxDelay), Help: "the time for one request under each; the most of it under pass"},
			{Name: "tries", Kind: faults.KindInt, Default: "3", Min: 1, Max: maxTries, Help: "how often the next hop is tried"},
			{Name: "needs", Kind: faults.KindDuration, Default: "1ms", Min: int64(time.Millisecond), Max: int64(faults.MaxDelay), Help: "with less than this left, no try is started: what one usually takes"},
			{Name: "backoff", Kind: faults.KindDuration, Default: "0s", Max: int64(faults.MaxDelay), Help: "wait after the first try, in whole ms; it doubles with each further one"},
			{Name: "backoff-cap", Kind: faults.KindDuration, Default: "1h", Min: int64(time.Millisecond), Max: int64(faults.MaxDelay), Help: "the longest wait, in whole ms"},
			{Name: "work", Kind: faults.KindShape, Default: "0s", Max: int64(faults.MaxDelay), Help: "its own work, before the first try"},
			{Name: "workers", Kind: faults.KindInt, Default: "64", Min: 1, Max: maxWorkers, Help: "requests that it holds at once; the others wait"},
			{Name: "per-try", Kind: faults.KindDuration, Default: "1h", Min: int64(time.Millisecond), Max: int64(faults.MaxDelay), Help: "the most that a try is given; below 1h a request is begun with needs left, whatever its own work takes"},
			{Name: "parallel", Kind: faults.KindInt, Default: "1", Min: 1, Max: maxParallel, Help: "calls of the next hop at once, each with its own tries; all are needed"},
			{Name: "leaving", Kind: faults.KindWord, Default: leavingPolicy, Words: []string{leavingPolicy, leavingStop, leavingWork}, Help: "when its client has left it stops, with all below, or works on; policy: stops under pass alone"},
			{Name: "skip", Kind: faults.KindText, Default: none, Help: "requests whose path begins so do not need the next hop; none: all do"},
		},
	}, func(a faults.Args) (faults.Custody, error) { return buildHop(a, script) })
}

// config is what the parameters say.
type config struct {
	next       *url.URL // nil: it is the leaf
	policy     string
	budget     time.Duration
	tries      int
	needs      time.Duration
	backoff    time.Duration
	backoffCap time.Duration
	work       faults.Shape
	workers    int
	perTry     time.Duration // 0: not limited
	parallel   int
	heeds      bool   // it stops when its client leaves
	skip       string // empty: nothing
	script     Script // nil: none
}

func buildHop(a faults.Args, script Script) (faults.Custody, error) {
	cfg := config{
		policy: a.Text("policy"), budget: a.Duration("budget"), tries: int(a.Int("tries")), needs: a.Duration("needs"),
		backoff: a.Duration("backoff"), backoffCap: a.Duration("backoff-cap"), work: a.Shape("work"), workers: int(a.Int("workers")),
		perTry: a.Duration("per-try"), parallel: int(a.Int("parallel")), script: script,
	}
	leaving := a.Text("leaving")
	cfg.heeds = leaving == leavingStop || leaving == leavingPolicy && cfg.policy == PolicyPass
	if cfg.perTry == faults.MaxDelay {
		cfg.perTry = 0
	}
	var err error
	if cfg.next, err = parseNext(a.Text("next")); err != nil {
		return faults.Custody{}, fmt.Errorf("next: %w", err)
	}
	if cfg.skip = a.Text("skip"); cfg.skip == none {
		cfg.skip = ""
	} else if !strings.HasPrefix(cfg.skip, "/") {
		return faults.Custody{}, fmt.Errorf("skip: %q: write the beginning of a path, such as /health", cfg.skip)
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"backoff", cfg.backoff}, {"backoff-cap", cfg.backoffCap}} {
		if d.d%time.Millisecond != 0 {
			return faults.Custody{}, fmt.Errorf("%s: %v: only whole milliseconds", d.name, d.d)
		}
	}
	if cfg.backoff > cfg.backoffCap {
		return faults.Custody{}, fmt.Errorf("backoff %v is longer than its cap of %v", cfg.backoff, cfg.backoffCap)
	}
	h := newHop(cfg)
	return faults.Custody{Serve: h.serve, Close: h.close}, nil
}

// parseNext reads the next hop's URL; nil for none.
func parseNext(text string) (*url.URL, error) {
	if text == none {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("%q: write http://HOST:PORT/, or none", text)
	}
	if n, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16); err != nil || n == 0 || strings.HasSuffix(u.Host, ":") {
		return nil, fmt.Errorf("%q: the port is a number from 1 to 65535", text)
	}
	if host := u.Hostname(); host != "localhost" {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
			return nil, errors.New(u.Host + " is not loopback: what multiplies calls stays on this machine")
		}
	}
	return u, nil
}
