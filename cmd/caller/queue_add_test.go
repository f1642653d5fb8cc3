package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/stores"
)

func newStore(t *testing.T) (string, retryqueue.Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "queue.db")
	store, err := stores.Open(t.Context(), path, stores.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return path, store
}

// awaitJob waits until the store has the job.
func awaitJob(t *testing.T, store retryqueue.Store, id string) retryqueue.Job {
	t.Helper()
	for end := time.Now().Add(watchdog); ; time.Sleep(5 * time.Millisecond) {
		job, err := store.Get(t.Context(), id)
		if err == nil {
			return job
		}
		if !errors.Is(err, retryqueue.ErrUnknownID) || time.Now().After(end) {
			t.Fatalf("job %s: %v, want it in the store while stdin is open", id, err)
		}
	}
}

// ran is a command that runs in this process.
type ran struct {
	code      int
	out, errs bytes.Buffer
	done      chan struct{}
}

func startCaller(ctx context.Context, stdin io.Reader, args ...string) *ran {
	r := &ran{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.code = cli.Run(ctx, newRoot, args, cli.Streams{In: stdin, Out: &r.out, Err: &r.errs})
	}()
	return r
}

func (r *ran) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(watchdog):
		t.Fatal("the command still runs")
	}
}

func TestQueueAddWritesWhenStdinPauses(t *testing.T) {
	t.Parallel()
	path, store := newStore(t)
	in, write := io.Pipe()
	r := startCaller(t.Context(), in, "queue", "add", "-", "--store", path)
	const pause = 300 * time.Millisecond
	fmt.Fprintln(write, `{"id":"a","url":"http://127.0.0.1:1/","deadline_in_ms":60000}`)
	a := awaitJob(t, store, "a")
	time.Sleep(pause)
	fmt.Fprintln(write, `{"id":"b","url":"http://127.0.0.1:1/","deadline_in_ms":60000}`)
	b := awaitJob(t, store, "b")
	for name, got := range map[string]time.Duration{"deadlines": b.Deadline.Sub(a.Deadline), "times of adding": b.EnqueuedAt.Sub(a.EnqueuedAt)} {
		// The clock of lines is read in whole milliseconds.
		if got < pause-time.Millisecond {
			t.Errorf("%s of two lines %v apart: %v apart; want each from when its line was read", name, pause, got)
		}
	}
	write.Close()
	if r.wait(t); r.code != 0 || r.out.String() != "added 2, known 0\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and both added", r.code, r.out.String(), r.errs.String())
	}
}

func TestQueueAddStopsWhileStdinIsSilent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stdin, out, err string
		args                  []string
	}{
		{
			"lines", `{"id":"a","url":"http://127.0.0.1:1/"}` + "\n" + `{"id":"b","url":"http:/`, "added 1, known 0\n",
			"caller: interrupted after line 1; line 2 was not whole and is not in\n",
			[]string{"-"},
		},
		{"nothing", "", "added 0, known 0\n", "caller: interrupted after line 0\n", []string{"-"}},
		{"a body", "half", "", "caller: interrupted: nothing was added\n", []string{"http://127.0.0.1:1/", "--id", "c", "--data", "-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, store := newStore(t)
			in, write := io.Pipe()
			defer write.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := startCaller(ctx, in, slices.Concat([]string{"queue", "add", "--store", path}, c.args)...)
			if _, err := io.WriteString(write, c.stdin); err != nil { // returns when it was read
				t.Fatal(err)
			}
			if c.out == "added 1, known 0\n" {
				awaitJob(t, store, "a")
			}
			cancel()
			if r.wait(t); r.code != cli.ExitInterrupted || r.out.String() != c.out || r.errs.String() != c.err {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d, %q, %q", r.code, r.out.String(), r.errs.String(), cli.ExitInterrupted, c.out, c.err)
			}
		})
	}
}

func TestQueueAddNamesFewOfManyBadLines(t *testing.T) {
	t.Parallel()
	path, _ := newStore(t)
	const bad = 5000
	good := fmt.Sprintf(`{"id":"a","url":"http://127.0.0.1:1/","body":%q}`, strings.Repeat("x", retryqueue.MaxPayload/2))
	stdin := strings.Repeat("no job\n", bad) + strings.Repeat("z", maxJobLine+1) + "\n" + good
	r := startCaller(t.Context(), strings.NewReader(stdin), "queue", "add", "-", "--store", path)
	r.wait(t)
	lines := strings.Split(strings.TrimSpace(r.errs.String()), "\n")
	want := []string{
		"line 1: refused: no JSON object", "line 20: refused: no JSON object",
		fmt.Sprintf("and %d more lines like these", bad+1-maxNotes),
		fmt.Sprintf("caller: lines refused: %d, jobs in: 1; mend those lines and hand all in again: that is safe", bad+1),
	}
	if r.code != 1 || len(lines) != maxNotes+2 || lines[0] != want[0] || !slices.Equal(lines[maxNotes-1:], want[1:]) {
		t.Errorf("exit code %d, stderr %q; want 1, %d lines, among them %q", r.code, lines, maxNotes+2, want)
	}
	if want := fmt.Sprintf("added 1, known 0, refused %d\n", bad+1); r.out.String() != want {
		t.Errorf("stdout %q, want %q", r.out.String(), want)
	}
}

func TestLineSplitter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		chunks []string
		want   string
		begun  bool
	}{
		{"nothing", nil, "", false},
		{"one chunk", []string{"a\nb\n"}, "1a 2b", false},
		{"in pieces", []string{"a", "b", "\nc\r", "\n"}, "1ab 2c", false},
		{"no end", []string{"a\nb"}, "1a", true},
		{"empty lines count", []string{"\n\na\n"}, "1 2 3a", false},
		{"as long as can be", []string{"12345678\n"}, "112345678", false},
		{"too long", []string{"123456789\na\n"}, "1! 2a", false},
		{"too long in pieces", []string{"12345", "6789", "more", "\na\n"}, "1! 2a", false},
		{"too long without end", []string{"12345", "6789"}, "", true},
		{"a mark at the start", []string{"\xef", "\xbb", "\xbfa\n\xef\xbb\xbfb\n"}, "1a 2\xef\xbb\xbfb", false},
	} {
		split := lineSplitter{most: 8}
		var got []string
		for _, chunk := range c.chunks {
			if err := split.feed([]byte(chunk), func(l line) error {
				text := string(l.text)
				if l.long {
					text += "!"
				}
				got = append(got, fmt.Sprint(l.n, text))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if text := strings.Join(got, " "); text != c.want || split.begun() != c.begun {
			t.Errorf("%s: %q: got %q, begun %v; want %q, %v", c.name, c.chunks, text, split.begun(), c.want, c.begun)
		}
	}
}
