//go:build unix

// Package scripts holds no code, only the tests of the scripts beside it.
package scripts

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaoslab/internal/skip"
)

// patience is what a script may take on a busy machine, and goneWithin how fast
// it ends after SIGINT.
const (
	patience   = time.Minute
	goneWithin = 3 * time.Second
)

// commands builds partner and caller as the scripts do and returns their folder.
func commands(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "ps"} {
		_, err := exec.LookPath(tool)
		skip.Missing(t, err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-tags", "noqueue", "-o", dir+"/", "chaoslab/cmd/partner", "chaoslab/cmd/caller").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

// script returns a command that runs a script in a process group of its own, in
// an environment that tries to mislead it.
func script(t *testing.T, bin, name string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(),
		"PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir(),
		"LC_ALL=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8",
		"http_proxy=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1", "all_proxy=http://127.0.0.1:1",
	)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// checkGone fails if a process of the group is left, or a file.
func checkGone(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	end := time.Now().Add(goneWithin)
	left := processes(t, cmd.Process.Pid)
	for ; left != "" && time.Now().Before(end); left = processes(t, cmd.Process.Pid) {
		time.Sleep(20 * time.Millisecond) // a child that is just ending
	}
	if left != "" {
		t.Errorf("processes of the script are still there:\n%s", left)
	}
	for _, v := range cmd.Env {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			if left, _ := filepath.Glob(filepath.Join(dir, "chaoslab.*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

// processes names what is left of a process group. What has ended and waits for
// the init process to notice is gone.
func processes(t *testing.T, group int) string {
	t.Helper()
	all, err := exec.Command("ps", "-A", "-o", "pgid=,stat=,args=").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	var left strings.Builder
	for line := range strings.Lines(string(all)) {
		if f := strings.Fields(line); f[0] == strconv.Itoa(group) && !strings.HasPrefix(f[1], "Z") {
			left.WriteString(line)
		}
	}
	return left.String()
}

func TestThreeFailures(t *testing.T) {
	t.Parallel()
	bin := commands(t)
	for _, run := range []string{"first", "at the same time"} {
		t.Run(run, func(t *testing.T) {
			t.Parallel()
			cmd := script(t, bin, "three-failures.sh")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			defer timer.Stop()
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\nstdout\n%s\nstderr\n%s", err, out, stderr.String())
			}
			for _, want := range []string{
				`(?m)^refused +7 +\d+\.\d  refused +connect +none +none +\d+\.\d$`,
				`(?m)^connect-timeout +28 +[2-9]\d\d\.\d  connect_timeout +connect +connect +none +[3-9]\d\d\.\d$`,
				`(?m)^read-timeout +28 +[45-9]\d\d\.\d  read_timeout +first_byte +read +unknown +[5-9]\d\d\.\d$`,
			} {
				if !regexp.MustCompile(want).Match(out) {
					t.Errorf("stdout\n%s\nwant a line %s", out, want)
				}
			}
			for line := range strings.Lines(string(out)) {
				if len(line) > 81 {
					t.Errorf("a line is longer than 80 columns: %s", line)
				}
			}
			checkGone(t, cmd)
		})
	}
}

func TestCompareClients(t *testing.T) {
	t.Parallel()
	bin := commands(t)
	cmd := script(t, bin, "compare-clients.sh", "-o", t.TempDir(), "curl-total", "no-such-client")
	timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`(?m)^curl-total( +[3-6]\.\d\*?){5} +\d\.\d\*? +[3-6]\.\d\*?$`, `(?m)^no-such-client +not here$`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("output\n%s\nwant a line %s", out, want)
		}
	}
	for _, name := range []string{"clients.csv", "clients.svg"} {
		text, err := os.ReadFile(filepath.Join(cmd.Args[2], name))
		if err != nil || !strings.Contains(string(text), "curl-total") {
			t.Errorf("%s: %v, %q", name, err, text)
		}
	}
	checkGone(t, cmd)
}

// The policies compared by real runs, which are as short as can be here: what
// they come to is for caller's own tests.
func TestComparePolicies(t *testing.T) {
	t.Parallel()
	bin := commands(t)
	cmd := script(t, bin, "compare-policies.sh", "--instances", "1", "--rate", "10",
		"--healthy", "200ms", "--failure", "200ms", "--recovery", "200ms", "--failing", "status")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\nstdout\n%s\nstderr\n%s", err, out, stderr.String())
	}
	for _, policy := range []string{"none", "backoff", "jitter", "throttle", "breaker", "deadline"} {
		want := `(?m)^` + policy + ` +50 +\d+ +\d+ +\d+ +\d+ +\d+ +\d+\.\d +(\d+\.\d|never)$`
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("stdout\n%s\nwant a line %s", out, want)
		}
	}
	for line := range strings.Lines(string(out)) {
		if len(line) > 81 {
			t.Errorf("a line is longer than 80 columns: %s", line)
		}
	}
	cmd = script(t, bin, "compare-policies.sh", "--rate", "0")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "is not within") {
		t.Errorf("--rate 0: %v, %s, want exit code 2 and what is wrong", err, out)
	}
	checkGone(t, cmd)
}

func TestScriptsSayHowTheyAreUsed(t *testing.T) {
	t.Parallel()
	bin := commands(t)
	for _, c := range []struct {
		name, arg, want string
		code            int
	}{
		{"three-failures.sh", "--help", "usage: scripts/three-failures.sh", 0},
		{"three-failures.sh", "3", `unknown argument "3"; usage: scripts/three-failures.sh`, 2},
		{"bench-cutoff", "-h", "usage: scripts/bench-cutoff [RUNS [LIMIT]]", 0},
		{"bench-cutoff", "many", `RUNS is a number from 1 to 99999, not "many"; usage: `, 2},
		{"bench-cutoff", "0", `RUNS is a number from 1 to 99999, not "0"; usage: `, 2},
	} {
		cmd := script(t, bin, c.name, c.arg)
		timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		out, _ := cmd.CombinedOutput()
		timer.Stop()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "seed ") {
			t.Errorf("%s %s: exit code %d, %q, want %d, %q and no partner started", c.name, c.arg, code, out, c.code, c.want)
		}
		checkGone(t, cmd)
	}
}

// What the scripts build has no queue, and says how to get one.
func TestNoQueueInWhatScriptsBuild(t *testing.T) {
	t.Parallel()
	bin := commands(t)
	for _, args := range [][]string{
		{"init"}, {"stats"}, {"work", "--once", "--store", "postgres://me@127.0.0.1/db"}, {"prove"},
	} {
		cmd := exec.Command(filepath.Join(bin, "caller"), append([]string{"queue"}, args...)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "for one with it: go install ./cmd/...") {
			t.Errorf("queue %q: %v, exit code %d, %q, want 1 and one line that says how to get it", args, err, code, out)
		}
	}
}

func TestL1ScriptsCleanUpAfterSIGINT(t *testing.T) {
	t.Parallel()
	bin := commands(t)
	for _, c := range []struct {
		name, until string
		args        []string
	}{
		{"three-failures.sh", "refused ", nil},
		{"bench-cutoff", "== connect limit", []string{"1000", "100ms"}},
		{"compare-clients.sh", "client ", []string{"curl-connect", "curl-total"}},
		{"compare-policies.sh", "none ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := script(t, bin, c.name, c.args...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			defer timer.Stop()
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), c.until) {
				continue // it has not come so far yet
			}
			// As Ctrl-C does: to the whole group.
			sent := time.Now()
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, out)
			_ = cmd.Wait()
			if code, took := cmd.ProcessState.ExitCode(), time.Since(sent); code != 130 || took > goneWithin {
				t.Errorf("exit code %d after %v, want 130 within %v", code, took, goneWithin)
			}
			checkGone(t, cmd)
		})
	}
}

// TestSignalWhileTheScratchFolderIsMade sends it from within mkdir itself, once
// the folder is there.
func TestSignalWhileTheScratchFolderIsMade(t *testing.T) {
	t.Parallel()
	bin := commands(t)
	mkdir, err := exec.LookPath("mkdir")
	if err != nil {
		t.Fatal(err)
	}
	fake := "#!/bin/sh\n" + mkdir + " \"$@\" && kill -TERM $PPID\n"
	if err := os.WriteFile(filepath.Join(bin, "mkdir"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := script(t, bin, "three-failures.sh")
	timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143; output\n%s", code, out)
	}
	checkGone(t, cmd)
}
