// Package cli is what both commands share: streams, exit codes, one-line
// errors, flag values that refuse what is ambiguous, output formats and
// progress.
//
// A command is a cobra command whose flags fill an options struct and whose
// RunE calls runX(ctx, opts, streams). main is one call of Main. Results go to
// Streams.Out, narration and progress to Streams.Err.
//
// It leaves out everything that only one command needs.
package cli
