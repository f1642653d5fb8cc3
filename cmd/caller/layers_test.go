package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"chaoslab/cmd/internal/cli"
)

// checkLayers checks a file given on stdin.
func checkLayers(t *testing.T, file string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := cli.Streams{In: strings.NewReader(file), Out: &stdout, Err: &stderr}
	code = cli.Run(t.Context(), newRoot, append([]string{"layers", "-"}, args...), s)
	return code, stdout.String(), stderr.String()
}

func TestLayersTableFits(t *testing.T) {
	t.Parallel()
	const file = `
name: a chain whose name is so long that it does not fit into one single line of a terminal
instances: {value: 1000000, reason: many}
per_second: {value: 1000000, reason: often}
layers:
  - name: a-layer-with-a-rather-long-name
    limit: {value: 9999ms, reason: test}
    retries: {value: 99, reason: test}
    waits: {value: 9999ms, reason: test}
  - name: another-layer-with-an-even-longer-name
    limit: {value: 9998ms, reason: test}
    retries: {value: 10}
    backoff: {base: 100ms, cap: 1s}
    deadline: afresh
`
	code, out, errs := checkLayers(t, file)
	if code != cli.ExitFailed || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, stderr %q; want 1 and one line", code, errs)
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > cli.Width {
			t.Errorf("%d columns, want at most %d: %s", n, cli.Width, line)
		}
	}
}

func TestLayersSayWhenTheyCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "json", "csv"} {
		var stderr bytes.Buffer
		s := cli.Streams{In: strings.NewReader("layers: [{name: a, limit: 1s}]"), Out: failingWriter{}, Err: &stderr}
		if code := cli.Run(t.Context(), newRoot, []string{"layers", "-", "--format", format}, s); code != cli.ExitFailed {
			t.Errorf("%s to a writer that fails: code %d, stderr %q; want 1", format, code, stderr.String())
		}
	}
}

func TestPercentIsRoundedUp(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0.8: "80 %", 0.07: "7 %", 0.57: "57 %", 0.8000001: "81 %", 1: "100 %", 1.0 / 3: "34 %"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) = %q, want %q", share, got, want)
		}
	}
}
