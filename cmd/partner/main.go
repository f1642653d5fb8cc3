// Command partner is a server that misbehaves on purpose, exactly as asked.
package main

import "chaoslab/cmd/internal/cli"

func main() { cli.Main(newRoot) }
