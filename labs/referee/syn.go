package referee

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// synSocket is a connect that is under way: to which port, and the socket's inode.
type synSocket struct {
	port  uint16
	inode uint32
}

// lookForSyns reads the kernel's table and notes what has come and gone in it. It
// is called by one goroutine, which alone writes r.syns.
func (r *scenarioRun) lookForSyns(holes map[uint16]string) {
	ports := map[uint16]bool{}
	for port := range holes {
		ports[port] = true
	}
	begun := time.Now()
	found, ok := r.connecting(ports)
	now := time.Now()
	if r.SynRetries == 0 {
		r.dropForeign(found)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.blind = true
		return
	}
	for local, s := range r.syns {
		if _, still := found[local]; !still && s.after.IsZero() {
			s.after = now
		}
	}
	before := r.looked
	r.looked = begun
	for local, socket := range found {
		if s := r.syns[local]; s != nil {
			s.last = begun
			continue
		}
		r.syns[local] = &syn{before: before, first: now, last: now}
		r.names[local] = holes[socket.port]
		if r.event != nil {
			r.event(Event{r.Name, millis(now.Sub(r.start)), "partner", fmt.Sprintf("%s: a SYN that gets no answer (seen in the kernel's table)", holes[socket.port])})
		}
	}
}

// connecting returns the connects that are under way, in the program's own network
// if it has one.
func (r *scenarioRun) connecting(ports map[uint16]bool) (map[netip.AddrPort]synSocket, bool) {
	if r.SynRetries == 0 {
		return connecting(ports)
	}
	found, ok := map[netip.AddrPort]synSocket{}, true
	for _, pid := range r.running() {
		ok = ok && connectingOf(pid, ports, found)
	}
	return found, ok
}

// dropForeign takes out the connects of other programs.
func (r *scenarioRun) dropForeign(found map[netip.AddrPort]synSocket) {
	r.mu.Lock()
	pids, marks := slices.Clone(r.pids), slices.Clone(r.marks)
	r.mu.Unlock()
	for local, socket := range found {
		if r.syns[local] != nil {
			continue
		}
		others, known := r.foreign[local]
		if !known {
			if others = foreign(socket.inode, pids, marks); others {
				r.foreign[local] = true
				r.tell("referee", "another program connects to this port too: %v is not counted", local)
			}
		}
		if others {
			delete(found, local)
		}
	}
}
