package main

import (
	"os"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/sandbox"
)

func main() {
	if code, handled := sandbox.Main(os.Args); handled {
		os.Exit(code) // this process is the first one of a sandbox
	}
	cli.Main(newRoot)
}
