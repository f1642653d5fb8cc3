package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how far long work has come. It is quiet for the first second
// and wherever its writer is not a terminal. It is for one goroutine.
type Progress struct {
	bar  *progressbar.ProgressBar // nil: quiet for good
	step chan int
	done chan struct{}
}

// progressAfter is how long work takes before it counts as long, and
// progressEvery how often the bar is drawn again while nothing is finished.
const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
)

// NewProgress returns a Progress on w for total steps of what. It must be
// closed.
func NewProgress(w io.Writer, total int, what string) *Progress {
	if !IsTerminal(w) {
		return &Progress{}
	}
	return draw(w, total, what)
}

func draw(w io.Writer, total int, what string) *Progress {
	p := &Progress{
		bar: progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription(what),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(total > 1),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetRenderBlankState(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetTheme(progressbar.ThemeASCII),
			progressbar.OptionSetSpinnerChangeInterval(0), // else it draws by itself, also when it is taken away
		),
		step: make(chan int),
		done: make(chan struct{}),
	}
	// Else it would take its first drawing for the beginning, and what is left be
	// nothing then.
	p.bar.StartWithoutRender()
	go p.run(w)
	return p
}

// run draws the bar: it alone touches it, so that a step never waits for the
// terminal to be drawn twice at once.
func (p *Progress) run(w io.Writer) {
	defer close(p.done)
	start := time.Now()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	finished, drawn := 0, false
	for {
		select {
		case n, more := <-p.step:
			if !more {
				if drawn {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			}
			finished += n
		case <-tick.C:
			if time.Since(start) < progressAfter {
				continue
			}
			drawn = true
			// A bar that cannot be drawn is no reason to stop the work. Where the number
			// is shown, setting it draws.
			_ = p.bar.Set(finished)
		}
	}
}

// Add notes that n more steps are done.
func (p *Progress) Add(n int) {
	if p.bar != nil {
		p.step <- n
	}
}

// Close takes the bar away.
func (p *Progress) Close() {
	if p.bar != nil {
		close(p.step)
		<-p.done
		p.bar = nil
	}
}

// IsTerminal says whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
