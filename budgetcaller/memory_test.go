package budgetcaller

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// growth runs f and returns by how much the heap had grown at its highest.
func growth(t testing.TB, f func()) uint64 {
	t.Helper()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before, peak := heap(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			peak = max(peak, heap())
			select {
			case <-stop:
				return
			case <-time.After(5 * ms):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return peak - min(peak, before)
}

// Whatever the partner sends, and however much of it, memory stays bounded.
func TestMemoryIsBounded(t *testing.T) {
	// Not parallel: it looks at the heap of the whole process.
	block := strings.Repeat("x", 1<<20)
	const most = 32 << 20
	for _, tt := range []struct {
		name   string
		script func(*peer)
		want   want
	}{
		{
			"300 MB of body", func(p *peer) {
				p.send("HTTP/1.1 200 OK\r\nContent-Length: 314572800\r\n\r\n")
				for range 300 {
					p.send(block)
				}
				p.hold()
			},
			want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: 300 << 20, expected: 300 << 20, most: 20 * time.Second},
		},
		{
			"300 MB in one chunk", func(p *peer) {
				p.send(chunkedHead + "12c00000\r\n")
				for range 300 {
					p.send(block)
				}
				p.send("\r\n0\r\n\r\n")
				p.hold()
			},
			want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: 300 << 20, expected: -1, most: 20 * time.Second},
		},
		{
			"endless header", func(p *peer) {
				for p.send("HTTP/1.1 200 OK\r\nX: ") && p.send(block) && p.send(block) && p.send(block) {
				}
			},
			want{class: ClassMalformed, phases: in(PhaseHead), effects: unknown(), expected: -1, most: 5 * time.Second},
		},
		{
			"endless status line", func(p *peer) {
				p.send("HTTP/1.1 200 ")
				for p.send(block) {
				}
			},
			want{class: ClassMalformed, phases: in(PhaseHead), effects: unknown(), expected: -1, most: 5 * time.Second},
		},
		{
			"endless garbage", func(p *peer) {
				for p.send(block) {
				}
			},
			want{class: ClassMalformed, phases: in(PhaseHead), effects: unknown(), expected: -1, most: 5 * time.Second},
		},
		{
			"endless 1xx", func(p *peer) {
				for p.send(strings.Repeat("HTTP/1.1 103 X\r\nLink: y\r\n\r\n", 1000)) {
				}
			},
			want{class: ClassMalformed, phases: in(PhaseHead), effects: unknown(), expected: -1, most: 5 * time.Second},
		},
		{
			"endless trailer", func(p *peer) {
				p.send(chunkedHead + "0\r\n")
				for p.send(strings.Repeat("X: y\r\n", 10000)) {
				}
			},
			want{class: ClassMalformed, phases: in(PhaseBody), effects: unknown(), status: 200, expected: -1, most: 5 * time.Second},
		},
		{
			"endless chunk extension", func(p *peer) {
				p.send(chunkedHead + "5;")
				for p.send(block) {
				}
			},
			want{class: ClassMalformed, phases: in(PhaseBody), effects: unknown(), status: 200, expected: -1, most: 5 * time.Second},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(t, func(p *peer) {
				if p.request() != nil {
					tt.script(p)
				}
			})
			c := newCaller(t, Config{Limits: Limits{Read: 5 * time.Second}})
			grown := growth(t, func() { tt.want.check(t, once(t, c, 60*time.Second, get(t, w.url("/")))) })
			if grown > most {
				t.Errorf("the heap grew by %d MB, at most %d", grown>>20, most>>20)
			}
		})
	}
}
