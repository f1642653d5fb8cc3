package main

import "chaoslab/cmd/internal/cli"

func main() {
	cli.Main(newRoot)
}
