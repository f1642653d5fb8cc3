package stall

import (
	"fmt"
	"time"
)

// tries is how often something is tried at most: of so many, a machine that does
// any work at all leaves one in peace.
const tries = 20

// Again runs try until it is good, or bad although the machine stalled for less than
// spoils meanwhile: then its error counts. If the machine never let it be good the
// last one counts, as then nothing is known.
//
// try must start afresh each time. What no stall can bring about it need not return
// but may report itself.
func (w *Watch) Again(spoils time.Duration, try func() error) error {
	for n := 1; ; n++ {
		began := time.Now()
		err := try()
		held := w.Since(began)
		switch {
		case err == nil || held < spoils:
			return err
		case n == tries:
			return fmt.Errorf("the machine stalled for %v and more in each of %d tries, the last: %w", spoils, tries, err)
		}
	}
}
