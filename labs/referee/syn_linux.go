package referee

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Constants of linux/sock_diag.h, linux/inet_diag.h and net/tcp_states.h.
const (
	sockDiagByFamily = 20
	stateSynSent     = 2
	diagMessage      = 72 // bytes of a struct inet_diag_msg
	diagInode        = 68 // where it holds the socket's inode
)

// connecting returns our end of every connect that is under way on this machine
// to one of the ports, by the kernel's table of sockets (sock_diag(7)). It
// returns false where there is no such table to be had.
func connecting(ports map[uint16]bool) (map[netip.AddrPort]synSocket, bool) {
	found := map[netip.AddrPort]synSocket{}
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if !dumpConnecting(family, ports, found) {
			return nil, false
		}
	}
	return found, true
}

func dumpConnecting(family byte, ports map[uint16]bool, found map[netip.AddrPort]synSocket) bool {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	timeout := unix.Timeval{Usec: 200_000}
	if unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout) != nil {
		return false
	}
	if unix.Sendto(fd, dumpRequest(family), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return false
	}
	reply := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(fd, reply, 0)
		if err != nil {
			return false
		}
		done, ok := readDump(reply[:n], ports, found)
		if done || !ok {
			return ok
		}
	}
}

// dumpRequest asks for every TCP socket that has sent a SYN and heard nothing: a
// struct nlmsghdr and a struct inet_diag_req_v2.
func dumpRequest(family byte) []byte {
	b := make([]byte, 16+56)
	ne := binary.NativeEndian
	ne.PutUint32(b[0:], uint32(len(b)))
	ne.PutUint16(b[4:], sockDiagByFamily)
	ne.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b[16], b[17] = family, unix.IPPROTO_TCP
	ne.PutUint32(b[20:], 1<<stateSynSent)
	return b
}

// readDump reads one datagram of the answer. It returns whether the dump is over
// and whether it could be read.
func readDump(b []byte, ports map[uint16]bool, found map[netip.AddrPort]synSocket) (done, ok bool) {
	ne := binary.NativeEndian
	for len(b) >= 16 {
		size := int(ne.Uint32(b))
		if size < 16 || size > len(b) {
			return true, false
		}
		switch ne.Uint16(b[4:]) {
		case unix.NLMSG_DONE:
			return true, true
		case unix.NLMSG_ERROR:
			return true, false
		case sockDiagByFamily:
			if size < 16+diagMessage {
				return true, false
			}
			noteSocket(b[16:size], ports, found)
		}
		b = b[min(len(b), (size+3)&^3):]
	}
	return false, true
}

// noteSocket reads a struct inet_diag_msg.
func noteSocket(m []byte, ports map[uint16]bool, found map[netip.AddrPort]synSocket) {
	local, remote := binary.BigEndian.Uint16(m[4:]), binary.BigEndian.Uint16(m[6:])
	if m[1] != stateSynSent || !ports[remote] {
		return
	}
	addr := netip.AddrFrom4([4]byte(m[8:12]))
	if m[0] == unix.AF_INET6 {
		addr = netip.AddrFrom16([16]byte(m[8:24])).Unmap()
	}
	found[netip.AddrPortFrom(addr, local)] = synSocket{remote, binary.NativeEndian.Uint32(m[diagInode:])}
}
