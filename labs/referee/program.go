package referee

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"chaoslab/labs/referee/confine"
	"chaoslab/labs/referee/handin"
)

// RunFile is the file in a student's folder whose one line starts the program.
const RunFile = "run"

// maxRun bounds it.
const maxRun = 16 << 10

// ProgramConfig says what is to be run.
type ProgramConfig struct {
	Dir string // the student's folder
	// Argv is the command line. Empty: the line of the file "run" in Dir.
	Argv []string
	// Env is the environment that the program starts from, such as os.Environ().
	// Variables of proxies and those of an exercise are left out.
	Env []string
	// Confine lets the program write in its folder, in its folder for passing things
	// and in the caches of languages, and nowhere else. main must have called
	// confine.Main first.
	Confine bool
	// Sandbox runs the scenarios that want a private network; without it they are
	// left out. main must have called sandbox.Main first.
	Sandbox bool
}

// Program is a student's program, ready to be run. Close it.
type Program struct {
	dir, scratch string
	argv, env    []string
	shown        string
	confined     bool
	sandbox      bool
	loose        string // why it is not confined though it was to be
}

// Prepare makes a program ready. "go run PACKAGE" is built here once, so that no
// scenario has to wait for the compiler.
func Prepare(ctx context.Context, cfg ProgramConfig) (*Program, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	p := &Program{dir: dir, argv: cfg.Argv, env: ownEnv(cfg.Env), sandbox: cfg.Sandbox}
	if cfg.Confine {
		if err := confine.Available(); err != nil {
			p.loose = err.Error()
		}
		p.confined = p.loose == ""
	}
	if len(p.argv) == 0 {
		if p.argv, err = readRunFile(dir); err != nil {
			return nil, err
		}
	}
	p.shown = strings.Join(p.argv, " ")
	if p.scratch, err = os.MkdirTemp("", "chaoslab-lab-"); err != nil {
		return nil, err
	}
	if build, args, ok := goRun(p.argv); ok {
		err = p.build(ctx, build, args)
	} else {
		err = p.find()
	}
	if err != nil {
		_ = os.RemoveAll(p.scratch)
		return nil, err
	}
	return p, nil
}

// Close removes what was built and what the program wrote in its folder for
// passing things.
func (p *Program) Close() error { return os.RemoveAll(p.scratch) }

// String returns the command line.
func (p *Program) String() string { return p.shown }

// find looks the program up: a bare name in the search path, any other from the
// student's folder.
func (p *Program) find() error {
	name := p.argv[0]
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.dir, name)
		}
		if _, err := os.Stat(name); err != nil {
			return fmt.Errorf("the program: %w; see the file %q", err, RunFile)
		}
		p.argv = append([]string{name}, p.argv[1:]...)
		return nil
	}
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("the program: %w; see the file %q", err, RunFile)
	}
	return nil
}

// readRunFile reads the one line of the file "run".
func readRunFile(dir string) ([]string, error) {
	text, err := handin.Read(dir, RunFile, maxRun)
	if err != nil {
		return nil, fmt.Errorf("which program? %w", err)
	}
	var argv []string
	for line := range strings.Lines(string(text)) {
		words, err := splitWords(strings.TrimSpace(line))
		switch {
		case err != nil:
			return nil, fmt.Errorf("file %q: %w", RunFile, err)
		case len(words) == 0:
		case argv != nil:
			return nil, fmt.Errorf("file %q: one line, the command; this is a second one: %s", RunFile, oneLine(line))
		default:
			argv = words
		}
	}
	if argv == nil {
		return nil, fmt.Errorf("file %q holds no command", RunFile)
	}
	return argv, nil
}

// ownEnv drops what would lead a program elsewhere.
func ownEnv(env []string) []string {
	var kept []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		lower := strings.ToLower(name)
		if strings.HasPrefix(name, "LAB_") || strings.HasSuffix(lower, "_proxy") {
			continue
		}
		kept = append(kept, entry)
	}
	return kept
}

// mark is a variable that every process of one run inherits and no other has.
const mark = "LAB_RUN"

func newMark() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
