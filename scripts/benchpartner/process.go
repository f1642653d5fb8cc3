package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chaoslab/faults/admin"
)

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	url   string
	admin *admin.Client // of a partner
}

// start starts a program that prints a line with url=… for each of its ports.
func (b *bench) start(path string, args ...string) (*process, error) {
	cmd := exec.CommandContext(b.ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd}
	for scan := bufio.NewScanner(out); scan.Scan(); {
		_, url, _ := strings.Cut(scan.Text(), "url=")
		if p.url == "" {
			p.url = url
		}
		if !strings.Contains(scan.Text(), "more") {
			if strings.Contains(scan.Text(), "admin") {
				p.admin, err = admin.NewClient(url)
			}
			if strings.Contains(scan.Text(), "admin") || path == b.self {
				return p, err
			}
		}
	}
	p.stop()
	return nil, errors.New(path + " did not start")
}

// partnerIn starts a partner with one mode.
func (b *bench) partnerIn(mode string, args ...string) (*process, error) {
	return b.start(b.partner, append([]string{"--mode", mode, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
}

// other starts one of the servers that this program is too.
func (b *bench) other(name string) (*process, error) { return b.start(b.self, "serve", name) }

func (p *process) stop() {
	if p.admin != nil {
		p.admin.Close()
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

func (p *process) addr() string {
	_, addr, _ := strings.Cut(p.url, "://")
	return addr
}

// resident returns the process's resident memory in kB.
func (p *process) resident() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.ParseFloat(strings.Fields(rest)[0], 64)
		}
	}
	return 0, errors.New("no VmRSS")
}

// settled waits until the memory has not fallen for a while, and returns it.
func (p *process) settled(ctx context.Context) (float64, error) {
	least, err := p.resident()
	for still := 0; still < 15 && err == nil && ctx.Err() == nil; still++ {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
		var now float64
		if now, err = p.resident(); now < least-50 {
			least, still = now, 0
		}
	}
	now, err := p.resident()
	return now, err
}
