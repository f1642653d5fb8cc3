package labs

import (
	"embed"
	"fmt"
	"io/fs"

	"chaoslab/labs/referee"
)

// One line an exercise.
//
//go:embed 01-three-failures
//go:embed 02-two-limits
//go:embed 03-one-budget
//go:embed 04-failed-or-unknown
//go:embed 05-what-to-retry
//go:embed 06-the-load-of-retries
//go:embed 07-the-chain
//go:embed 08-layered-limits
//go:embed 09-circuit-breaker
//go:embed 10-partial-answers
//go:embed 11-the-queue
//go:embed 12-not-in-force
//go:embed 13-limits-from-p99
var folders embed.FS

// All returns every exercise, in order. An error means that one of them is not
// well formed, which a test holds.
func All() ([]*referee.Lab, error) {
	entries, err := folders.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []*referee.Lab
	for _, e := range entries {
		files, err := fs.Sub(folders, e.Name())
		if err != nil {
			return nil, err
		}
		lab, err := referee.Load(files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if lab.Folder() != e.Name() {
			return nil, fmt.Errorf("%s: its lab.yaml calls it %s", e.Name(), lab.Folder())
		}
		all = append(all, lab)
	}
	return all, nil
}

// Find returns the exercise of that number.
func Find(number int) (*referee.Lab, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	for _, lab := range all {
		if lab.Number == number {
			return lab, nil
		}
	}
	return nil, fmt.Errorf("no exercise %d: 1 to %d", number, all[len(all)-1].Number)
}
