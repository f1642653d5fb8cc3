package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs"
)

// writes keeps what is written, and calls after behind each write.
type writes struct {
	text  strings.Builder
	after func(text string)
}

func (w *writes) Write(b []byte) (int, error) {
	w.text.Write(b)
	if w.after != nil {
		w.after(w.text.String())
	}
	return len(b), nil
}

// A class is a line for each hand-in as soon as it is graded, so that an end in
// the middle costs the one that is being graded and no other.
func TestClassIsWrittenAsItIsGraded(t *testing.T) {
	t.Parallel()
	lab, err := labs.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	class := t.TempDir()
	for _, name := range []string{"ada", "bob", "eve"} { // with nothing to run
		if err := os.Mkdir(filepath.Join(class, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	o := &labOptions{class: class, seed: 7}
	const header = "hand_in,exercise,verdict,passed,of,first_failure,seen,seed\n"
	lines := func(text string) string {
		var names []string
		for line := range strings.Lines(strings.TrimPrefix(text, header)) {
			name, _, _ := strings.Cut(line, ",")
			names = append(names, name)
		}
		return strings.Join(names, " ")
	}

	var out writes
	begun := writes{after: func(string) {}}
	var seen []string // what stood there when the next was begun
	begun.after = func(string) { seen = append(seen, lines(out.text.String())) }
	if err := runLabClass(t.Context(), o, lab, cli.Streams{Out: &out, Err: &begun}); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%q", append(seen, lines(out.text.String()))), `["" "ada" "ada bob" "ada bob eve"]`; got != want {
		t.Errorf("hand-ins written whenever one was begun, and in the end: %s, want %s", got, want)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupted := writes{after: func(text string) {
		if lines(text) == "ada" {
			cancel()
		}
	}}
	err = runLabClass(ctx, o, lab, cli.Streams{Out: &interrupted, Err: io.Discard})
	if got := lines(interrupted.text.String()); err == nil || got != "ada" || !strings.Contains(err.Error(), "interrupted after 1 hand-ins") {
		t.Errorf("interrupted behind the first: %v, with %q; want an error that says so, and that one", err, got)
	}
}
