// Caller measures when a network call was really cut off, by which limit, in
// which phase, and whether the partner may have carried it out.
//
//	caller demo
//	caller measure http://127.0.0.1:8080/ --read-timeout 500ms -n 20
//	caller suggest http://127.0.0.1:8080/
//	caller layers examples/layers/sound.yaml
//	caller explain read_timeout
//
// Each subcommand is one file and one line in newRoot. A subcommand's flags
// fill an options struct; runX(ctx, options, …) does the work and is tested
// without a command line.
//
// It leaves out load: it measures few calls well. A run is one attempt unless
// more are asked for, so that each figure is of one thing.
package main
