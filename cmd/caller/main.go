package main

import (
	"os"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/referee/confine"
	"chaoslab/labs/sandbox"
)

func main() {
	if code, handled := sandbox.Main(os.Args); handled {
		os.Exit(code) // this process is the first one of a sandbox
	}
	if code, handled := confine.Main(os.Args); handled {
		os.Exit(code) // this process could not become a student's program
	}
	cli.Main(newRoot)
}
