package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"chaoslab/labs/sandbox"
)

// sandboxLimit bounds the demo's try with a sandbox, which takes half a second.
const sandboxLimit = 2500 * time.Millisecond

// blackHole is an address of the genuine black hole, to be measured in a sandbox
// alone.
func blackHole() netip.Addr { return sandbox.BlackHole().Addr().Next() }

// measureBlackHole measures an address of the genuine black hole with this very
// program inside a sandbox.
func measureBlackHole(ctx context.Context, limit time.Duration) (measureLine, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, sandboxLimit, fmt.Errorf("a sandbox takes more than %v here", sandboxLimit))
	defer cancel()
	line, err := measureInSandbox(ctx, limit)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return line, err
}

func measureInSandbox(ctx context.Context, limit time.Duration) (measureLine, error) {
	self, err := os.Executable()
	if err != nil {
		return measureLine{}, err
	}
	url := fmt.Sprintf("http://%s/", blackHole())
	cmd, err := sandbox.Command(ctx, sandbox.Options{}, self, "measure", url, "--connect-timeout", limit.String(), "--format", "json")
	if err != nil {
		return measureLine{}, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	code, err := sandbox.Run(ctx, cmd)
	switch {
	case err != nil:
		return measureLine{}, err
	case code != 0:
		return measureLine{}, errors.New(strings.TrimSpace(stderr.String()))
	}
	var line measureLine
	if err := json.Unmarshal(stdout.Bytes(), &line); err != nil {
		return measureLine{}, fmt.Errorf("what it printed: %w", err)
	}
	return line, nil
}
