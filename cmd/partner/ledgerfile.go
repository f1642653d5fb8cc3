package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"chaoslab/faults"
)

// ledgerQueue is how many entries may wait for the disk.
const ledgerQueue = 1 << 16

// ledgerFile writes every entry that ends to a file.
type ledgerFile struct {
	file *os.File
	feed *faults.Feed
	done chan error
}

func openLedger(path string, ledger *faults.Ledger, told func(error)) (*ledgerFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--ledger: %w", err)
	}
	l := &ledgerFile{f, ledger.Follow(ledgerQueue), make(chan error, 1)}
	go func() { l.done <- writeEntries(f, l.feed.Entries(), told) }()
	return l, nil
}

// writeEntries writes entries until there are no more. What has been written is
// in the file as soon as nothing more is waiting. The first error is told at once,
// and ends the writing.
func writeEntries(w io.Writer, entries <-chan faults.Entry, told func(error)) error {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	var first error
	for e := range entries {
		if first != nil {
			continue // the partner goes on; the end says what is missing
		}
		first = enc.Encode(e)
		if first == nil && len(entries) == 0 {
			first = out.Flush()
		}
		if first != nil {
			told(first)
		}
	}
	if first == nil {
		first = out.Flush()
	}
	return first
}

// close ends the file and says on w what it lacks.
func (l *ledgerFile) close(w io.Writer) {
	l.feed.Close()
	err := <-l.done
	if closeErr := l.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		fmt.Fprintf(w, "partner: --ledger: the file is not whole: %v\n", err)
	}
	if missed := l.feed.Missed(); missed > 0 {
		fmt.Fprintf(w, "partner: --ledger: %d entries are missing: the disk was too slow\n", missed)
	}
}
