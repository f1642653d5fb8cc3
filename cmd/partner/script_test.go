package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"chaoslab/cmd/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"partner": func() { cli.Main(newRoot) }})
}

// TestScripts runs the scripts of testdata/script. Beside testscript's own
// commands they have
//
//	serve ARGS…      starts partner ARGS… and waits for its ready lines, which go
//	                 to the file ready; $URL is the first port, $ADMIN the last
//	end INT|TERM     ends it by a signal: within 2 s, with exit code 130
//	fetch URL [header…]   GETs URL; the status line and the body go to stdout
//	columns N        no line of stdout is longer than that
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Values["server"] = &server{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": serveCmd, "end": endCmd, "fetch": fetchCmd, "columns": columnsCmd,
		},
	})
}

// stopSlack is what a busy machine may add to the 2 s that an end may take.
const stopSlack = time.Second

type server struct {
	cmd    *exec.Cmd
	stderr strings.Builder
}

func serveCmd(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value("server").(*server)
	path, err := exec.LookPath("partner")
	ts.Check(err)
	s.cmd = exec.Command(path, args...)
	s.cmd.Dir = ts.Getenv("WORK")
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	ts.Defer(func() { _ = s.cmd.Process.Kill() })
	var lines []string
	for scan := bufio.NewScanner(out); scan.Scan(); {
		lines = append(lines, scan.Text())
		if strings.Contains(scan.Text(), "admin") {
			break
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("ready"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	if len(lines) < 2 {
		_ = s.cmd.Wait()
		ts.Fatalf("not ready: %q %s", lines, s.stderr.String())
	}
	url := func(line string) string {
		_, u, _ := strings.Cut(line, "url=")
		return u
	}
	ts.Setenv("URL", url(lines[0]))
	ts.Setenv("ADMIN", url(lines[len(lines)-1]))
}

func endCmd(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value("server").(*server)
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}
	began := time.Now()
	ts.Check(s.cmd.Process.Signal(signals[args[0]]))
	_ = s.cmd.Wait()
	if took := time.Since(began); took > 2*time.Second+stopSlack {
		ts.Fatalf("the end took %v, want 2 s", took)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		ts.Fatalf("exit code %d, want %d; stderr: %s", code, cli.ExitInterrupted, s.stderr.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), []byte(s.stderr.String()), 0o644))
}

func fetchCmd(ts *testscript.TestScript, neg bool, args []string) {
	c := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequest(http.MethodGet, args[0], nil)
	ts.Check(err)
	for _, h := range args[1:] {
		key, value, _ := strings.Cut(h, ":")
		req.Header.Add(key, strings.TrimSpace(value))
	}
	r, err := c.Do(req)
	if neg {
		if err == nil {
			ts.Fatalf("fetch %s: got %s, want an error", args[0], r.Status)
		}
		return
	}
	ts.Check(err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n%s", r.Status, r.Header.Get("Server-Timing"), body)
}

func columnsCmd(ts *testscript.TestScript, _ bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > most {
			ts.Fatalf("%d columns, want at most %d: %s", n, most, line)
		}
	}
}

// TestScriptsAreThere keeps an empty folder from passing for success.
func TestScriptsAreThere(t *testing.T) {
	t.Parallel()
	if found, err := filepath.Glob("testdata/script/*.txt*"); err != nil || len(found) < 3 {
		t.Errorf("scripts: got %v, %v", found, err)
	}
}
