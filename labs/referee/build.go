package referee

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// buildLimit bounds the building of a Go program.
const buildLimit = 3 * time.Minute

// goRun splits a command "go run FLAGS PACKAGE ARGS" into the flags and packages
// that go build takes as well, and the program's own arguments.
func goRun(argv []string) (build, args []string, ok bool) {
	if len(argv) < 3 || argv[0] != "go" || argv[1] != "run" {
		return nil, nil, false
	}
	alone := []string{"a", "n", "race", "msan", "asan", "cover", "v", "work", "x", "trimpath", "modcacherw"}
	i := 2
	for ; i < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		name := strings.TrimLeft(argv[i], "-")
		if name == "exec" || strings.HasPrefix(name, "exec=") {
			return nil, nil, false // what it names is to start the program
		}
		if !strings.Contains(name, "=") && !slices.Contains(alone, name) {
			i++ // its value is a word of its own
		}
	}
	if i >= len(argv) {
		return nil, nil, false
	}
	end := i + 1
	for strings.HasSuffix(argv[i], ".go") && end < len(argv) && strings.HasSuffix(argv[end], ".go") {
		end++
	}
	return argv[2:end], argv[end:], true
}

// build builds the program as it is run later: what the flags or the folder make of
// the compiler is bounded, confined and ended like the program itself.
func (p *Program) build(ctx context.Context, what, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	binary := filepath.Join(p.scratch, "program")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if p.confined {
		if err := p.makeCaches(); err != nil {
			return err
		}
	}
	builder := *p
	builder.argv = append([]string{"go", "build", "-o", binary}, what...)
	rec := newRecorder(time.Now(), nil)
	pr, err := builder.start([]string{"GOFLAGS=-buildvcs=false"}, rec, 0)
	if err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	select {
	case <-pr.done:
	case <-rec.full:
		pr.stop()
	case <-ctx.Done():
		pr.stop()
	}
	pr.sweep(nil)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("go build: %w", context.Cause(ctx))
	case pr.err != nil:
		var out strings.Builder
		lines, _ := rec.all()
		for _, l := range lines {
			out.WriteString(l.Text + " ")
		}
		return fmt.Errorf("go build: %s", oneLine(out.String()+pr.err.Error()))
	}
	p.argv = append([]string{binary}, args...)
	return nil
}

// makeCaches makes the folders in which Go keeps what it builds and fetches: a
// confined compiler can write in them, but not make them.
func (p *Program) makeCaches() error {
	_, fetches := os.Stat(filepath.Join(p.dir, "go.sum"))
	for _, dir := range goCaches(p.env, fetches == nil) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("go build: %w", err)
		}
	}
	return nil
}

// goCaches returns the folder in which Go keeps what it builds and, if asked for,
// that in which it keeps what it fetches, by the variables of an environment.
func goCaches(env []string, fetches bool) []string {
	set := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		set[name] = value
	}
	first := func(under ...[2]string) []string {
		for _, u := range under {
			path, _, _ := strings.Cut(set[u[0]], string(filepath.ListSeparator)) // GOPATH is a list
			if filepath.IsAbs(path) {
				return []string{filepath.Join(path, u[1])}
			}
		}
		return nil
	}
	all := first([2]string{"GOCACHE", ""}, [2]string{"XDG_CACHE_HOME", "go-build"}, [2]string{"HOME", ".cache/go-build"})
	if fetches {
		all = append(all, first([2]string{"GOMODCACHE", ""}, [2]string{"GOPATH", "pkg/mod"}, [2]string{"HOME", "go/pkg/mod"})...)
	}
	return all
}
