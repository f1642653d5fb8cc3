package repo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestREADMECommandsExist holds that every command the README shows is there
// and takes the flags shown: it is run with --help, which reads the flags, their
// values too, and then only prints.
func TestREADMECommandsExist(t *testing.T) {
	t.Parallel()
	lines := commandLines(readFile(t, "README.md"))
	if len(lines) < 5 {
		t.Fatalf("only %d commands found in README.md: %q", len(lines), lines)
	}
	binaries := map[string]string{}
	for _, name := range []string{"caller", "partner"} {
		if _, err := os.Stat(filepath.Join(root, "cmd", name, "main.go")); err != nil {
			t.Fatal(err)
		}
		binaries[name] = build(t, name)
	}
	for _, line := range lines {
		if err := checkLine(t, binaries, line); err != nil {
			t.Errorf("README.md: %s: %v", line, err)
		}
	}
}

var (
	fence  = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```\n")
	inline = regexp.MustCompile("`((?:caller|partner|go|scripts/)[^`\n]*)`")
)

// commandLines returns the lines of the text's sh blocks, without comments, and
// the commands of the project or of Go that stand in its prose.
func commandLines(markdown string) []string {
	var lines []string
	for _, block := range fence.FindAllStringSubmatch(markdown, -1) {
		if block[1] != "sh" {
			continue
		}
		for line := range strings.Lines(block[2]) {
			line, _, _ = strings.Cut(line, " #")
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(markdown, ""), -1) {
		if strings.ContainsAny(m[1], " /") { // not the bare name of a program
			lines = append(lines, m[1])
		}
	}
	return lines
}

func checkLine(t *testing.T, binaries map[string]string, line string) error {
	t.Helper()
	words := strings.Fields(line)
	switch {
	case len(words) == 0, slices.Contains([]string{"export", "cd", "enable"}, words[0]):
		return nil
	case words[0] == "go" && len(words) > 2 && words[1] == "run":
		words = words[2:]
		if len(words) > 2 && words[0] == "-tags" {
			words = words[2:]
		}
		return checkCommand(t, binaries, strings.TrimPrefix(words[0], "./cmd/"), words[1:])
	case words[0] == "go":
		return checkGo(words[1:])
	case binaries[words[0]] != "":
		return checkCommand(t, binaries, words[0], words[1:])
	case strings.HasPrefix(words[0], "scripts/"):
		return checkScript(words[0])
	}
	return fmt.Errorf("the test does not know %q", words[0])
}

// checkCommand runs a command of the project with args and --help. What stands
// behind "--" is a command line of its own.
func checkCommand(t *testing.T, binaries map[string]string, name string, args []string) error {
	t.Helper()
	if i := slices.Index(args, "--"); i >= 0 {
		if rest := strings.Join(args[i+1:], " "); rest != "COMMAND" {
			if err := checkLine(t, binaries, rest); err != nil {
				return err
			}
		}
		args = args[:i]
	}
	binary := binaries[name]
	if binary == "" {
		return fmt.Errorf("no command %q", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, append(slices.Clone(args), "--help")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	// An unknown first word could be taken for an argument: the help must be
	// that of the subcommand.
	usage := name
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		usage += " " + args[0]
	}
	if !strings.Contains(string(out), "\n  "+usage) {
		return fmt.Errorf("--help shows no usage of %q: %s", usage, out)
	}
	return nil
}

// checkGo checks the packages that a go command names.
func checkGo(args []string) error {
	for _, arg := range args {
		if folder, ok := strings.CutPrefix(arg, "./"); ok {
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(folder, "..."))); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkScript(path string) error {
	info, err := os.Stat(filepath.Join(root, path))
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s cannot be executed; chmod +x it", path)
	}
	return nil
}

// build builds a command of the project and returns its path.
func build(t *testing.T, name string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, "./cmd/"+name)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return binary
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	const markdown = "Run `caller explain CLASS`, not `caller` or `GET /`.\n" +
		"```sh\ngo run ./cmd/caller demo    # see it\nscripts/check\n```\n" +
		"```go\nfunc main() {}\n```\nand `scripts/check`\n"
	want := []string{"go run ./cmd/caller demo", "scripts/check", "caller explain CLASS", "scripts/check"}
	if got := commandLines(markdown); !slices.Equal(got, want) {
		t.Errorf("commandLines(%q) = %q, want %q", markdown, got, want)
	}
}

// CI must run what the README tells a newcomer to run, and nothing else behind it.
func TestCIRunsTheTestCommandOfTheREADME(t *testing.T) {
	t.Parallel()
	blocks := fence.FindStringSubmatch(readFile(t, "README.md"))
	if blocks == nil {
		t.Fatal("README.md has no block of commands")
	}
	commands := commandLines(blocks[0])
	if len(commands) != 2 {
		t.Fatalf("README.md starts with the commands %q, want two: the demo and the tests", commands)
	}
	lines := strings.Split(strings.TrimSpace(readFile(t, ".ci/run")), "\n")
	if got, want := lines[len(lines)-1], "exec "+commands[1]; got != want {
		t.Errorf(".ci/run ends with %q, want %q", got, want)
	}
}
