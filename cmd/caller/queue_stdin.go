package main

import (
	"bytes"
	"context"
	"io"

	"chaoslab/labs/retryqueue"
)

// chunk is what one read of stdin returned, and when.
type chunk struct {
	data []byte
	at   retryqueue.Millis
	err  error
}

// readChunks reads r until it ends or stop is closed. Its goroutine can be left
// in a read that nothing ends but r itself, as that of a terminal: it ends with
// that read or with the process.
func readChunks(r io.Reader, stop <-chan struct{}) <-chan chunk {
	chunks := make(chan chunk)
	go func() {
		defer close(chunks)
		for {
			buf := make([]byte, 64<<10)
			n, err := r.Read(buf)
			select {
			case chunks <- chunk{buf[:n], nowMillis(), err}:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return chunks
}

// stoppable is a reader whose reads end with a context.
type stoppable struct {
	ctx    context.Context // of the one command that reads
	r      io.Reader
	chunks <-chan chunk // nil: not asked for anything yet
	rest   chunk
}

func newStoppable(ctx context.Context, r io.Reader) *stoppable { return &stoppable{ctx: ctx, r: r} }

// Read implements io.Reader.
func (s *stoppable) Read(p []byte) (int, error) {
	if s.chunks == nil {
		s.chunks = readChunks(s.r, s.ctx.Done())
	}
	for len(s.rest.data) == 0 && s.rest.err == nil {
		select {
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case s.rest = <-s.chunks:
		}
	}
	n := copy(p, s.rest.data)
	if s.rest.data = s.rest.data[n:]; len(s.rest.data) > 0 {
		return n, nil
	}
	return n, s.rest.err
}

// lineSplitter makes lines of chunks. One that is longer than most is told of,
// and its bytes are not kept.
type lineSplitter struct {
	most int
	n    int // lines so far
	rest []byte
	long bool // the line under way is too long
}

// line is one line of text, without its end.
type line struct {
	n    int
	text []byte // nothing if it is too long
	long bool
}

// feed calls f with each line that ends in data, until f returns an error.
func (l *lineSplitter) feed(data []byte, f func(line) error) error {
	for len(data) > 0 {
		head, tail, ended := bytes.Cut(data, []byte("\n"))
		data = tail
		if l.long = l.long || len(l.rest)+len(head) > l.most; l.long {
			l.rest = nil
		} else {
			l.rest = append(l.rest, head...)
		}
		if !ended {
			break
		}
		if err := l.end(f); err != nil {
			return err
		}
	}
	return nil
}

// end calls f with the line under way, which has no more to come.
func (l *lineSplitter) end(f func(line) error) error {
	l.n++
	text := l.rest
	if l.n == 1 {
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the mark some editors put before UTF-8
	}
	x := line{l.n, bytes.TrimSpace(text), l.long}
	l.rest, l.long = nil, false
	return f(x)
}

// begun says whether a line has begun that has not ended.
func (l *lineSplitter) begun() bool { return l.long || len(l.rest) > 0 }
