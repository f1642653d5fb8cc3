package faults

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// noticed is within what a client's leaving is to be seen.
const noticed = 500 * time.Millisecond

// worksFor is how long the work of the tests below goes on: longer than it may
// take to notice that the client has left, on a busy machine too.
const worksFor = 3 * time.Second

// leaver is a client that leaves in the middle, and what is to come of it.
type leaver struct {
	name  string
	fault string
	tls   bool
	leave func(t *testing.T, nc net.Conn) // nil: by Close

	ended   bool // the request has ended before it goes
	worksOn bool // work goes on without it
	effect  bool // once that is over

	p         *Partner
	tcp       *net.TCPConn
	nc        net.Conn // tcp, or TLS over it
	needsBody bool

	sent int64 // before its request was
	gone int64
}

// run lets all of them leave, and looks at each at once and once the work is over.
// They share the time that this takes.
func runLeavers(t *testing.T, all []*leaver) {
	for _, c := range all {
		c.arrive(t)
	}
	for _, c := range all {
		c.sent = c.p.clock.now()
		c.ask(t)
	}
	time.Sleep(100 * time.Millisecond)
	for _, c := range all {
		c.gone = c.p.clock.now()
		if c.leave == nil {
			_ = c.nc.Close()
		} else {
			c.leave(t, c.nc)
		}
	}
	for _, c := range all {
		t.Run(c.name, c.atOnce)
	}
	for _, c := range all {
		t.Run(c.name+" at the end", c.atTheEnd)
	}
}

func (c *leaver) arrive(t *testing.T) {
	if c.name == "" {
		c.name = c.fault
	}
	f, err := Lookup(spec(t, c.fault).Name())
	if err != nil {
		t.Fatal(err)
	}
	var l Listener
	if c.tls {
		var setup *tls.Config
		c.p, l, setup = startTLS(t, c.fault)
		c.tcp = dial(t, l)
		c.nc = tls.Client(c.tcp, setup)
	} else {
		c.p, l = start(t, c.fault)
		c.tcp = dial(t, l)
		c.nc = c.tcp
	}
	c.needsBody = f.NeedsBody > 0
}

func (c *leaver) ask(t *testing.T) {
	request := get
	if c.needsBody {
		request = "POST /path HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n" + strings.Repeat("b", 1000)
	}
	send(t, c.nc, request)
}

func (c *leaver) left() uint64 {
	if c.ended {
		return 0
	}
	return 1
}

func (c *leaver) atOnce(t *testing.T) {
	seenGone(t, c.p, c.tcp, c.gone, c.left())
	e := newest(c.p, c.tcp)
	if isOn := c.p.clock.now()-c.sent < int64(worksFor); c.worksOn && isOn && (e.EndedBy != "client" || e.Effect || e.OrphanedOverlap != 0 || e.Status != 0) {
		t.Errorf("the request while the work goes on: %+v", e)
	}
}

func (c *leaver) atTheEnd(t *testing.T) {
	if c.worksOn {
		waitFor(t, "the end of the work", func() bool { return newest(c.p, c.tcp).OrphanedOverlap > 0 })
	}
	e := newest(c.p, c.tcp)
	if by := map[bool]string{true: "partner", false: "client"}[c.ended]; e.EndedBy != by {
		t.Errorf("the request ended by the %s (%s), want by the %s", e.EndedBy, e.How, by)
	}
	if e.Effect != c.effect {
		t.Errorf("effect %v, want %v", e.Effect, c.effect)
	}
	overlap := max(0, worksFor-time.Duration(c.gone-c.sent)-noticed-slack).Seconds() * 1000
	if c.worksOn && e.OrphanedOverlap < overlap || e.Orphaned != 0 {
		t.Errorf("work after the client had left: %v ms, want at least %v; begun after it: %v", e.OrphanedOverlap, overlap, e.Orphaned)
	}
	s := c.p.Stats()[0]
	if s.ClientsLeft != c.left() || s.Open != 0 || s.Hung != 0 || c.worksOn && s.Orphaned.Seconds()*1000 < max(overlap, 0.001) {
		t.Errorf("counts at the end: %+v", s)
	}
	counted := uint64(0)
	for _, o := range s.Outcomes {
		if o.Outcome == "client_left" {
			counted += o.Count
		}
	}
	if counted != c.left() {
		t.Errorf("outcomes: %+v, want client_left %d times", s.Outcomes, c.left())
	}
}

// seenGone holds that nc, closed at time gone, is gone for the partner within
// half a second: its entry, the counts and the socket.
func seenGone(t *testing.T, p *Partner, nc net.Conn, gone int64, left uint64) {
	t.Helper()
	e := connectionOf(t, p, nc)
	if late := e.EndedAt - p.unixMS(gone); late > float64((noticed + slack).Milliseconds()) {
		t.Errorf("the connection's end was noticed after %.0f ms, want 500", late)
	}
	if left > 0 && e.EndedBy != "client" {
		t.Errorf("the connection ended by the %s (%s), want by the client", e.EndedBy, e.How)
	}
	if left == 0 { // the cut was the end, and the client's came after it
		waitFor(t, "no open connection", func() bool { return p.Stats()[0].Open == 0 })
	}
	if s := p.Stats()[0]; s.ClientsLeft != left || s.Open != 0 {
		t.Errorf("counts once the connection has ended: %+v, want %d left and none open", s, left)
	}
	if state := socketState(t, p.Listeners()[0].Addresses[0], localOf(nc)); state == "01" || state == "08" {
		t.Errorf("the partner's socket is still there, in state %s", state)
	}
}

// connectionOf waits until the connection of nc has ended and returns its entry.
func connectionOf(t *testing.T, p *Partner, nc net.Conn) Entry {
	t.Helper()
	var found Entry
	waitFor(t, "the end of the connection", func() bool {
		all := p.Ledger().Entries(Query{Remote: localOf(nc)})
		if len(all) > 0 {
			found = all[0]
		}
		return found.Kind == "connection" && found.Ended()
	})
	return found
}

// newest returns the entry of nc's first request as it stands, or the
// connection's if there was none.
func newest(p *Partner, nc net.Conn) Entry {
	return p.Ledger().Entries(Query{Remote: localOf(nc), Nth: 1})[0]
}

// socketState returns the state of the socket from from to to as /proc/net/tcp
// has it: 01 is ESTABLISHED, 08 CLOSE_WAIT; empty: there is none.
func socketState(t *testing.T, from, to netip.AddrPort) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return ""
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("0100007F:%04X 0100007F:%04X ", from.Port(), to.Port())
	if _, rest, found := strings.Cut(string(table), want); found {
		return rest[:2]
	}
	return ""
}
