package faults

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestPortReachesConnectionsInUse: a port that is refused answers nobody any
// more, also not on a connection that is busy or was a moment ago.
func TestPortReachesConnectionsInUse(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"refused", "connect-timeout"} {
		needs(t, fault)
		for name, pause := range map[string]time.Duration{"busy": 0, "between": 50 * time.Millisecond, "parked": 700 * time.Millisecond} {
			t.Run(fault+" "+name, func(t *testing.T) {
				t.Parallel()
				p, l := start(t, "ok")
				nc := dial(t, l)
				br := bufio.NewReader(nc)
				send(t, nc, get)
				io.Copy(io.Discard, readAnswer(t, br).Body)
				if err := p.Set(l.Name, []Spec{spec(t, fault)}, 0); err != nil {
					t.Fatal(err)
				}
				time.Sleep(pause)
				_, _ = nc.Write([]byte(get)) // it may have been closed by now
				if r, err := http.ReadResponse(br, nil); err == nil {
					t.Errorf("after Set(%s): got %s, want the end", fault, r.Status)
				}
				if pause > 0 {
					return
				}
				if e := entryOf(t, p, nc, 2); e.Mode != fault || e.How != "closed" || e.EndedBy != "partner" {
					t.Errorf("entry: got %+v, want one of %s, closed by the partner", e, fault)
				}
			})
		}
	}
}

// TestStageReachesConnectionsInUse: so does a stage that refuses the port.
func TestStageReachesConnectionsInUse(t *testing.T) {
	t.Parallel()
	needs(t, "refused")
	_, l := start(t, "ok:for=500ms", "refused:for=1h")
	nc := dial(t, l)
	br := bufio.NewReader(nc)
	began := time.Now()
	for time.Since(began) < 500*time.Millisecond+slack {
		if _, err := nc.Write([]byte(get)); err != nil {
			return
		}
		r, err := http.ReadResponse(br, nil)
		if err != nil {
			return
		}
		io.Copy(io.Discard, r.Body)
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("still answered %v after the port was refused", slack)
}

// TestConnectionFaultReachesOldConnections: who had a connection before it is
// brought to make another, which the fault can hit: at once if it is idle, after
// the answer under way if not.
func TestConnectionFaultReachesOldConnections(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"silent", "reset:at=accept", "tls-timeout"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			p, l := start(t, "ok")
			idle, busy := dial(t, l), dial(t, l)
			br := bufio.NewReader(busy)
			send(t, busy, get)
			io.Copy(io.Discard, readAnswer(t, br).Body)
			waitFor(t, "two connections", func() bool { return p.Listeners()[0].Open == 2 })
			if err := p.Set(l.Name, []Spec{spec(t, fault)}, 0); err != nil {
				t.Fatal(err)
			}
			if n, err := idle.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("idle: got %d bytes, %v, want the end", n, err)
			}
			send(t, busy, get)
			r := readAnswer(t, br)
			io.Copy(io.Discard, r.Body)
			if r.StatusCode != 200 || !r.Close {
				t.Errorf("busy: got %s, close %v, want 200 with Connection: close", r.Status, r.Close)
			}
			if _, err := br.ReadByte(); err != io.EOF {
				t.Errorf("busy: got %v, want the end", err)
			}
			// Those that have met the fault's plan stay.
			if err := p.Set(l.Name, []Spec{spec(t, fault+map[bool]string{true: ",", false: ":"}[fault == "reset:at=accept"]+"when=first=1")}, 0); err != nil {
				t.Fatal(err)
			}
			if hit, err := net.Dial("tcp", l.Addresses[0].String()); err == nil { // else reset by now
				defer hit.Close()
			}
			kept := dial(t, l)
			for range 2 {
				send(t, kept, get)
				if r := readAnswer(t, bufio.NewReader(kept)); r.Close {
					t.Errorf("a connection after the change: got Connection: close")
				}
			}
		})
	}
}
