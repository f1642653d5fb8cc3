package prove_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaoslab/internal/pgtest"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/prove"
)

var (
	long   = flag.Duration("prove", 0, "how long the crash test kills processes on each store (default: a few seconds)")
	seed   = flag.Uint64("prove.seed", uint64(time.Now().UnixNano()), "the seed of the crash test")
	shared = &pgtest.Shared{}
)

// TestMain is also what the worker processes run.
func TestMain(m *testing.M) {
	if kind, ok := os.LookupEnv("RETRYQUEUE_PROVE_WORKER"); ok {
		err := prove.Worker(context.Background(), os.Stdin, os.Stdout, func(s retryqueue.Store, db *sql.DB) retryqueue.Store { return plant(kind, s, db) })
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	shared.Stop()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
		code = 1
	}
	os.Exit(code)
}

// command starts a worker with a planted fault, none if kind is empty.
func command(kind string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "RETRYQUEUE_PROVE_WORKER="+kind)
		return cmd
	}
}

// Not parallel with the planted faults: both start many processes.
func TestProve(t *testing.T) {
	for _, kind := range storeKinds(t) {
		t.Run(kind.name, func(t *testing.T) {
			o := prove.Options{Command: command(""), Where: kind.where(t), Seed: *seed, Chaos: 4 * time.Second, Kills: 10, Jobs: 100}
			if *long > 0 {
				o.Chaos, o.Jobs = *long, int((*long).Seconds()*30)+1
			}
			res, err := prove.Run(t.Context(), o)
			t.Logf("seed %d: %+v", *seed, res)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range res.Violations {
				t.Errorf("%s: %s", v.Kind, v.Detail)
			}
			if res.Kills < 10 || res.Deliveries < res.Jobs/2 || res.Accepted == 0 || res.Stats.LeasesLost == 0 {
				t.Errorf("%d kills, %d deliveries, %d accepted, %d leases lost: that proves little", res.Kills, res.Deliveries, res.Accepted, res.Stats.LeasesLost)
			}
			if res.Stops == 0 && runtime.GOOS != "windows" {
				t.Error("no worker was stopped past its lease")
			}
		})
	}
}

type storeKind struct {
	name  string
	where func(t *testing.T) string
}

func storeKinds(t *testing.T) []storeKind {
	t.Helper()
	return []storeKind{
		{"SQLite", func(*testing.T) string { return "" }},
		{"PostgreSQL", func(t *testing.T) string { return shared.URL(t) }},
	}
}
