package main

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"maragu.dev/goqite"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// goqiteSchema is goqite's own, of version 0.4.0.
//
//go:embed goqite.sql
var goqiteSchema string

// openGoqite opens goqite as its documentation says: one connection, WAL.
func (b *bench) openGoqite(normal bool) (*sql.DB, *goqite.Queue, error) {
	synchronous := "FULL"
	if normal {
		synchronous = "NORMAL"
	}
	db, err := sql.Open("sqlite", sqlite.DSN(b.file(), "rwc", "busy_timeout(5000)", "journal_mode(WAL)", "synchronous("+synchronous+")"))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(b.ctx, goqiteSchema); err != nil {
		return nil, nil, err
	}
	return db, goqite.New(goqite.NewOpts{DB: db, Name: "jobs", Timeout: time.Minute}), nil
}

func goqiteAdd(ctx context.Context, db *sql.DB, q *goqite.Queue, n int, delay time.Duration) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for range n {
		if err := q.SendTx(ctx, tx, goqite.Message{Body: make([]byte, 200), Delay: delay}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func goqiteWork(ctx context.Context, db *sql.DB, q *goqite.Queue) func(int) (time.Duration, error) {
	return func(n int) (time.Duration, error) {
		if err := goqiteAdd(ctx, db, q, n, 0); err != nil {
			return 0, err
		}
		start := time.Now()
		for range n {
			m, err := q.Receive(ctx)
			if err != nil || m == nil {
				return 0, fmt.Errorf("received %v, %w", m, err)
			}
			if err := q.Delete(ctx, m.ID); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
}

func (b *bench) sqlite() error {
	for _, normal := range []bool{true, false} {
		name, jobs := "synchronous=FULL", b.jobs(2000)
		if normal {
			name, jobs = "synchronous=NORMAL", b.jobs(8000)
		}
		db, q, err := b.openGoqite(normal)
		if err != nil {
			return err
		}
		o, err := b.openSQLite(b.file(), normal)
		if err != nil {
			return err
		}
		err = b.race("goqite, "+name, []contestant{
			{"goqite, " + name, jobs, goqiteWork(b.ctx, db, q)},
			{"RunOnce, " + name, jobs, o.once(b.ctx)},
			{"Work, " + name, jobs, o.work(b.ctx, 1, 1)},
			{"Work, 4 workers, " + name, jobs, o.work(b.ctx, 4, 1)},
			{"Work, batches of 16, " + name, jobs, o.work(b.ctx, 1, 16)},
		})
		if err != nil {
			return err
		}
		_, _ = db.Close(), o.store.Close()
	}
	return nil
}

// ahead measures beside jobs that are not due, and beside finished ones.
func (b *bench) ahead() error {
	far := now() + 500_000_000
	jobs := b.jobs(4000)
	var all []contestant
	for _, c := range []struct {
		name              string
		delayed, finished int
	}{
		{"nothing else", 0, 0},
		{"10,000 not due ahead", 10_000, 0},
		{fmt.Sprintf("%d not due ahead", b.large), b.large, 0},
		{"300,000 finished behind", 0, 300_000},
	} {
		o, err := b.openSQLite(b.file(), true)
		if err != nil {
			return err
		}
		defer o.store.Close()
		if err := o.add(b.ctx, c.delayed, far); err != nil {
			return err
		}
		if c.finished > 0 {
			if _, err := o.work(b.ctx, 1, 256)(c.finished); err != nil {
				return err
			}
		}
		all = append(all, contestant{"Work, " + c.name, jobs, o.work(b.ctx, 1, 1)})
	}
	db, q, err := b.openGoqite(true)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := goqiteAdd(b.ctx, db, q, 10_000, 100*time.Hour); err != nil {
		return err
	}
	all = append(all, contestant{"goqite, 10,000 not due ahead", min(jobs, 500), goqiteWork(b.ctx, db, q)})
	return b.race("Work, nothing else", all)
}

// share lets two processes work on one file for some seconds.
func (b *bench) share() error {
	const seconds = 3
	var less []float64 // the share of who did less, round by round
	for range b.rounds {
		path := b.file()
		o, err := b.openSQLite(path, false)
		if err != nil {
			return err
		}
		if err := o.add(b.ctx, 60_000, 0); err != nil {
			return err
		}
		if err := o.store.Close(); err != nil {
			return err
		}
		until := strconv.FormatInt(time.Now().Add((seconds+1)*time.Second).UnixMilli(), 10)
		var did [2]int
		var cmds [2]*exec.Cmd
		var outs [2]strings.Builder
		for i := range cmds {
			cmds[i] = exec.CommandContext(b.ctx, os.Args[0], "share", path, until)
			cmds[i].Stdout, cmds[i].Stderr = &outs[i], os.Stderr
			if err := cmds[i].Start(); err != nil {
				return err
			}
		}
		for i := range cmds {
			if err := cmds[i].Wait(); err != nil {
				return err
			}
			if did[i], err = strconv.Atoi(strings.TrimSpace(outs[i].String())); err != nil {
				return err
			}
		}
		total := did[0] + did[1]
		fmt.Printf("  %d and %d jobs, %.0f : %.0f\n", did[0], did[1], 100*float64(did[0])/float64(total), 100*float64(did[1])/float64(total))
		less = append(less, 100*float64(min(did[0], did[1]))/float64(total))
	}
	fmt.Printf("  who did less did: median %.0f %%, at worst %.0f %%\n", median(less), slices.Min(less))
	return nil
}

// shareWorker is one process of share: it works from a second before the time
// given less the length of the run, so that both begin together.
func shareWorker(ctx context.Context, path, until string) error {
	ms, err := strconv.ParseInt(until, 10, 64)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	end := time.UnixMilli(ms)
	begin := time.NewTimer(time.Until(end.Add(-3 * time.Second)))
	<-begin.C
	did := 0
	var settle []retryqueue.Settlement
	for time.Now().Before(end) {
		taken, err := s.Take(ctx, retryqueue.Take{Now: now(), Settle: settle, Claim: 1, LeaseUntil: now() + 30_000})
		if err != nil {
			return err
		}
		settle = nil
		for _, j := range taken.Jobs {
			did++
			settle = append(settle, retryqueue.Settlement{ID: j.ID, Attempt: j.Attempts, State: retryqueue.Done, At: now()})
		}
	}
	_, err = fmt.Println(did)
	return err
}
