package referee

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// recorder keeps the lines that a program writes, within bounds. It is safe for
// concurrent use.
type recorder struct {
	start time.Time
	tell  func(Line)    // called with each whole line; may be nil
	full  chan struct{} // closed at tooMuch

	mu      sync.Mutex
	lines   []Line
	streams []*stream
	kept    int
	total   int
}

func newRecorder(start time.Time, tell func(Line)) *recorder {
	return &recorder{start: start, tell: tell, full: make(chan struct{})}
}

// stream returns a writer for stdout or stderr of one process.
func (r *recorder) stream(isErr bool) *stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &stream{r: r, isErr: isErr}
	r.streams = append(r.streams, s)
	return s
}

type stream struct {
	r     *recorder
	isErr bool
	part  []byte // of a line whose end has not come
}

// Write implements io.Writer. It never fails: the program is not to notice.
func (s *stream) Write(b []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	for rest := b; len(rest) > 0; {
		line, more, ended := bytes.Cut(rest, []byte{'\n'})
		if room := maxSaid - len(s.part); len(line) > room {
			line, more, ended = line[:room], rest[room:], true
		}
		s.part = append(s.part, line...)
		if ended {
			s.flush()
		}
		rest = more
	}
	before := s.r.total
	s.r.total += len(b)
	if before <= tooMuch && s.r.total > tooMuch {
		close(s.r.full)
	}
	return len(b), nil
}

// flush makes a line of what has come. The lock is held.
func (s *stream) flush() {
	r := s.r
	line := Line{At: millis(time.Since(r.start)), Text: string(s.part), Err: s.isErr}
	s.part = s.part[:0]
	if r.kept+len(line.Text) > maxOutput {
		return
	}
	r.kept += len(line.Text) + 1
	r.lines = append(r.lines, line)
	if r.tell != nil {
		r.tell(line)
	}
}

// all returns the lines so far, a last one without its end too.
func (r *recorder) all() ([]Line, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.streams {
		if len(s.part) > 0 {
			s.flush()
		}
	}
	return append([]Line(nil), r.lines...), r.total
}

// said returns what the last line of stdout that is not empty says.
func said(lines []Line) Said {
	for i := len(lines) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(lines[i].Text); text != "" && !lines[i].Err {
			return say(text)
		}
	}
	return Said{}
}
