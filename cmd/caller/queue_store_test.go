package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue/stores"
)

// lock holds the write lock of a store until the test ends or what it returns is
// called.
func lock(t *testing.T, path string) (free func()) {
	t.Helper()
	db, err := stores.DB(path, "")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin() // takes it at once
	if err != nil {
		t.Fatal(err)
	}
	held := true
	free = func() {
		if held {
			held = false
			if err := tx.Rollback(); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(free)
	return free
}

func queueArgs(path, args string) []string {
	return append([]string{"queue", "--store", path}, strings.Fields(args)...)
}

// Who only looks waits for no writer.
func TestQueueLooksWhileItIsLocked(t *testing.T) {
	t.Parallel()
	path, store := newStore(t)
	addJobs(t, store, "http://127.0.0.1:1/", "a")
	lock(t, path)
	for args, want := range map[string]string{"stats": "pending                      1\n", "list": "a   pending  0 of 5\n", "show a": "state        pending\n"} {
		r := startCaller(t.Context(), nil, queueArgs(path, args)...)
		if r.wait(t); r.code != 0 || !strings.Contains(r.out.String(), want) || r.errs.Len() > 0 {
			t.Errorf("queue %s: exit code %d, stdout %q, stderr %q; want 0 and %q", args, r.code, r.out.String(), r.errs.String(), want)
		}
	}
}

// Who waits for a locked store ends on a signal.
func TestQueueEndsWhileItIsLocked(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"add -", "add http://127.0.0.1:1/ --id b", "work", "work --once", "redrive a", "purge --older-than 1h", "init"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			path, _ := newStore(t)
			lock(t, path)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := startCaller(ctx, strings.NewReader(""), queueArgs(path, args)...)
			time.Sleep(100 * time.Millisecond) // so that most wait by then
			cancel()
			if r.wait(t); r.code != cli.ExitInterrupted || r.errs.String() != "caller: interrupted while it waited for the store\n" {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d and that it was interrupted", r.code, r.out.String(), r.errs.String(), cli.ExitInterrupted)
			}
		})
	}
}

func TestQueueAddEndsWhileItIsLocked(t *testing.T) {
	t.Parallel()
	path, store := newStore(t)
	in, write := io.Pipe()
	defer write.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := startCaller(ctx, in, queueArgs(path, "add -")...)
	fmt.Fprintln(write, `{"id":"a","url":"http://127.0.0.1:1/"}`)
	awaitJob(t, store, "a")
	lock(t, path)
	fmt.Fprintln(write, `{"id":"b","url":"http://127.0.0.1:1/"}`)
	time.Sleep(200 * time.Millisecond) // so that it mostly is being written
	cancel()
	want := []string{
		"caller: interrupted while it waited for the store; jobs that are in: 1; handing all in again is safe\n",
		"caller: interrupted after line 1\n", // it had not got there
	}
	if r.wait(t); r.code != cli.ExitInterrupted || r.out.String() != "added 1, known 0\n" || !slices.Contains(want, r.errs.String()) {
		t.Errorf("exit code %d, stdout %q, stderr %q; want %d, one job and one of %q", r.code, r.out.String(), r.errs.String(), cli.ExitInterrupted, want)
	}
}

func TestQueueSaysWhatToDoAboutItsStore(t *testing.T) {
	t.Parallel()
	path, _ := newStore(t)
	db, err := stores.DB(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	want := "caller: store " + path + ": the store was made by a newer version: its schema is 99, this program knows 1; use the caller that made it or a later one\n"
	for _, args := range []string{"stats", "init", "work --once", "purge --older-than 1h"} {
		r := startCaller(t.Context(), nil, append([]string{"queue", "--store", path}, strings.Fields(args)...)...)
		if r.wait(t); r.code != 1 || r.out.Len() > 0 || r.errs.String() != want {
			t.Errorf("queue %s: exit code %d, stdout %q, stderr %q; want 1 and %q", args, r.code, r.out.String(), r.errs.String(), want)
		}
	}
	// A worker whose store is deleted ends.
	path = filepath.Join(t.TempDir(), "queue.db")
	store, err := stores.Open(t.Context(), path, stores.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	receiver := newSlowReceiver(t)
	addJobs(t, store, receiver.url, "a", "b")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	r := startCaller(t.Context(), nil, "queue", "--store", path, "work", "--until-idle")
	receiver.awaitReached(t)
	if err := os.Remove(path); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err) // it keeps a file that is open
		}
		t.Fatal(err)
	}
	close(receiver.release)
	if r.wait(t); r.code != 1 || !strings.Contains(r.errs.String(), "the store is gone") || strings.Count(r.errs.String(), "\n") != 1 {
		t.Errorf("work on a store that was deleted: exit code %d, stdout %q, stderr %q; want 1 and one line", r.code, r.out.String(), r.errs.String())
	}
}
