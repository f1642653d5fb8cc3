package chainhop

import (
	"net"
	"testing"
	"time"

	"chaoslab/faults"
)

// A client that leaves is gone for the hop at once, however long the hop goes on
// for it: with its own work, with its call to the next, or in line for a worker.
func TestLeavingIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	const worksFor = 3 * time.Second
	leaf := start(t, "slow:delay="+worksFor.String())
	type hop struct {
		name string
		p    *faults.Partner
	}
	var all []hop
	gone := map[string]time.Time{}
	for name, params := range map[string]string{
		"none": ",policy=none", "each": ",policy=each", "pass": ",policy=pass",
		"own work": ",policy=each,work=" + worksFor.String(),
	} {
		all = append(all, hop{name, start(t, "chain:next="+urlOf(leaf)+params)})
	}
	for _, h := range all {
		nc, err := net.Dial("tcp", h.p.Listeners()[0].Addresses[0].String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := nc.Write([]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); h.p.Stats()[0].Received == 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		gone[h.name] = time.Now()
		nc.Close()
	}
	for _, h := range all {
		var conn faults.Entry
		for end := time.Now().Add(10 * time.Second); !conn.Ended() && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			conn = h.p.Ledger().Entries(faults.Query{})[0]
		}
		late := conn.EndedAt - float64(gone[h.name].UnixMicro())/1000
		if conn.EndedBy != "client" || conn.Kind != "connection" || late > float64((500*time.Millisecond+slack).Milliseconds()) {
			t.Errorf("%s: the connection ended by %q %.0f ms late, want by the client within 500: %+v", h.name, conn.EndedBy, late, conn)
		}
		if s := h.p.Stats()[0]; s.ClientsLeft != 1 || s.Open != 0 {
			t.Errorf("%s: %d clients left, %d connections open, want 1 and 0", h.name, s.ClientsLeft, s.Open)
		}
	}
	for _, h := range all {
		var counted uint64
		for end := time.Now().Add(2*worksFor + 10*time.Second); counted == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			for _, o := range h.p.Stats()[0].Outcomes {
				counted += o.Count
			}
		}
		e, s := requests(t, h.p)[0], h.p.Stats()[0]
		if counted != 1 || s.ClientsLeft != 1 || e.EndedBy != "client" {
			t.Errorf("%s: at the end: %d requests over, %d clients left, ended by %q; want 1, 1 and the client", h.name, counted, s.ClientsLeft, e.EndedBy)
		}
		if goesOn := h.name != "pass"; goesOn && e.OrphanedOverlap < 100 || s.Orphaned <= 0 && goesOn {
			t.Errorf("%s: %v ms of work after the client had left, want the rest of %v", h.name, e.OrphanedOverlap, worksFor)
		}
	}
}
