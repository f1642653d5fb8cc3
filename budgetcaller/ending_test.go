//go:build unix

package budgetcaller

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// lateWriter is a connection whose writer comes back late with what the system
// said, and whose reader asks the system only after it has told the writer.
type lateWriter struct {
	*net.TCPConn
	told chan struct{}
	tell func() // closes told
}

func (l lateWriter) Write(p []byte) (int, error) {
	n, err := l.TCPConn.Write(p)
	if err != nil {
		l.tell()
		time.Sleep(50 * ms)
	}
	return n, err
}

func (l lateWriter) Read(p []byte) (int, error) {
	<-l.told
	return l.TCPConn.Read(p)
}

// The system tells of a RST once. If it told the writer, the reader hears an
// orderly end: it waits for the writer's word, and only then.
func TestResetThatOnlyTheWriterHears(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(*net.TCPConn) error
		want end
	}{
		{"reset", func(p *net.TCPConn) error { return errors.Join(p.SetLinger(0), p.Close()) }, endReset},
		{"orderly end of one direction", (*net.TCPConn).CloseWrite, endClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			near, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			told := make(chan struct{})
			tell := sync.OnceFunc(func() { close(told) })
			c := newConn(nil, lateWriter{near.(*net.TCPConn), told, tell})
			c.user = &attempt{}
			wrote := make(chan error, 1)
			go func() {
				_, err := heardConn{c.tcp, c}.Write(make([]byte, 64<<20)) // more than fits in between
				wrote <- err
			}()
			time.Sleep(20 * ms)
			if err := tt.end(far.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			if tt.want == endClosed {
				tell() // the writer goes on
			}
			_, err = heardConn{c.tcp, c}.Read(make([]byte, 1))
			if !errors.Is(err, io.EOF) {
				t.Errorf("read: got %v, want %v", err, io.EOF)
			}
			if got := c.how(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			_ = near.Close()
			if err := <-wrote; err == nil {
				t.Error("the write came to its end")
			}
		})
	}
}
