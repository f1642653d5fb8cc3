package main

import (
	"net/netip"
	"net/url"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/sandbox"
)

// The caps on one measurement. Loopback hurts nobody but this machine; anything
// else is somebody's, so it gets few calls at a time and some hundred in all.
const (
	maxRunsLoopback      = 100_000
	maxParallelLoopback  = 1_000
	maxRunsElsewhere     = 300
	maxParallelElsewhere = 4
)

// checkCaps refuses more than the targets may be given: runs of each with up to
// attempts each. away says that calls may leave the machine wherever the targets
// are: by redirect or proxy.
func checkCaps(targets []target, runs, attempts, parallel int, away bool) error {
	where, maxRuns, maxParallel := "loopback", maxRunsLoopback, maxParallelLoopback
	for _, t := range targets {
		if !loopback(t.url) {
			where, maxRuns, maxParallel = t.url.Hostname()+" (not loopback)", maxRunsElsewhere, maxParallelElsewhere
			break
		}
	}
	if away && maxRuns == maxRunsLoopback {
		where, maxRuns, maxParallel = "what --follow or --proxy may lead to", maxRunsElsewhere, maxParallelElsewhere
	}
	switch {
	case parallel > maxParallel:
		return cli.Usagef("-c %d is too many at a time for %s: at most %d", parallel, where, maxParallel)
	case runs > maxRuns/attempts/len(targets) && attempts > 1:
		return cli.Usagef("-n %d with up to %d attempts each for %d URL(s) is too many for %s: at most %d attempts in all", runs, attempts, len(targets), where, maxRuns)
	case runs > maxRuns/len(targets):
		return cli.Usagef("-n %d for %d URL(s) is too many for %s: at most %d runs in all", runs, len(targets), where, maxRuns)
	}
	return nil
}

// inTestNet says whether a call to u goes to the network that RFC 5737 keeps for
// documents. It should lead nowhere and often does not: only a sandbox makes it
// a black hole for sure.
func inTestNet(u *url.URL) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && sandbox.BlackHole().Contains(addr.Unmap())
}
