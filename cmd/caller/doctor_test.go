package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	nothing := errors.New("not here")
	for _, c := range []struct {
		name string
		o    doctorOptions
		want []string
	}{
		{"a machine that can all", doctorOptions{
			look:   func(string) (string, error) { return "/bin/x", nil },
			read:   func(string) (string, error) { return "6\n", nil },
			hole:   func() error { return nil },
			inside: func() error { return nil },
			bound:  func() error { return nil },
			sleeps: func(context.Context) []time.Duration { return []time.Duration{time.Millisecond} },
		}, []string{"ok  languages", "ok  black hole", "ok  sandbox", "ok  confinement", "tcp_syn_retries=6", "ok  timers", "ok  socket table"}},
		{"a machine that can nothing", doctorOptions{
			look:   func(string) (string, error) { return "", exec.ErrNotFound },
			read:   func(string) (string, error) { return "", nothing },
			hole:   func() error { return nothing },
			inside: func() error { return nothing },
			bound:  func() error { return nothing },
			sleeps: func(context.Context) []time.Duration { return []time.Duration{time.Second} },
		}, []string{"--  languages", "install one", "--  black hole", "--  sandbox", "--  confinement", "is not prevented", "not known on this system", "--  timers", "this machine is busy", "grade on Linux"}},
	} {
		var out bytes.Buffer
		c.o.format = cli.Format("table", "json")
		if err := runDoctor(t.Context(), &c.o, cli.Streams{Out: &out, Err: &out}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, out.String())
			}
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) > 24 {
			t.Errorf("%s: %d lines, want one screen", c.name, len(lines))
		}
		for _, l := range lines {
			if len([]rune(l)) > cli.Width {
				t.Errorf("%s: %d columns: %s", c.name, len([]rune(l)), l)
			}
		}
	}
}
