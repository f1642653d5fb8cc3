package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// burnName is argv[0] of a process that keeps one processor busy.
const burnName = "bench-referee-burn"

// burn counts until its stdin ends, which it does with the process that started
// it, however that comes to its end.
func burn() {
	go func() {
		for n := uint64(0); ; n++ {
			_ = n
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startLoad starts n processes that do nothing but count, and returns what ends
// them.
func startLoad(n int) (func(), error) {
	var cmds []*exec.Cmd
	var pipes []io.WriteCloser
	end := func() {
		for i, cmd := range cmds {
			_ = pipes[i].Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for range n {
		cmd := exec.Command(self)
		cmd.Args = []string{burnName}
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // one counts, one waits for the end
		pipe, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			end()
			return nil, fmt.Errorf("keeping a processor busy: %w", err)
		}
		cmds, pipes = append(cmds, cmd), append(pipes, pipe)
	}
	return end, nil
}

// sorted returns the rows by exercise, then language.
func sorted(rows []row) []row {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b row) int {
		if c := strings.Compare(a.exercise, b.exercise); c != 0 {
			return c
		}
		return strings.Compare(a.lang, b.lang)
	})
	return rows
}
