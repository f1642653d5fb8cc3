package faults

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// peerClosed says whether the client has closed its end, by the kernel's table
// of sockets (sock_diag(7)). It can only know for a client on this machine, and
// is asked where the connection itself cannot tell: a FIN behind bytes for which
// there is no room is not sent.
func (c *conn) peerClosed() bool {
	answer := c.askPeer()
	return answer != nil && closedByDiag(answer)
}

// taken returns how many bytes the client has taken so far: what its system has
// acknowledged, less what waits there to be read, where that can be known.
func (c *conn) taken() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return 0
	}
	info, err := unix.GetsockoptTCPInfo(c.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	waiting := uint64(unreadByDiag(c.askPeer()))
	return info.Bytes_acked - min(waiting, info.Bytes_acked)
}

// askPeer returns the kernel's answer about the client's socket, or nil.
func (c *conn) askPeer() []byte {
	if !c.remote.Addr().IsLoopback() {
		return nil
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	timeout := unix.Timeval{Usec: 100_000}
	if unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout) != nil {
		return nil
	}
	if unix.Sendto(fd, diagRequest(c.remote, c.local), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return nil
	}
	var reply [1024]byte
	n, _, err := unix.Recvfrom(fd, reply[:], 0)
	if err != nil {
		return nil
	}
	return reply[:n]
}

// sockDiagByFamily is the message type of request and answer.
const sockDiagByFamily = 20

// diagRequest asks for the one socket from from to to: a struct nlmsghdr and a
// struct inet_diag_req_v2 (linux/inet_diag.h).
func diagRequest(from, to netip.AddrPort) []byte {
	family, size := byte(unix.AF_INET), 4
	if from.Addr().Is6() {
		family, size = unix.AF_INET6, 16
	}
	b := make([]byte, 16+56)
	ne := binary.NativeEndian
	ne.PutUint32(b[0:], uint32(len(b)))
	ne.PutUint16(b[4:], sockDiagByFamily)
	ne.PutUint16(b[6:], unix.NLM_F_REQUEST)
	b[16], b[17] = family, unix.IPPROTO_TCP
	ne.PutUint32(b[20:], 0xffffffff) // any state
	binary.BigEndian.PutUint16(b[24:], from.Port())
	binary.BigEndian.PutUint16(b[26:], to.Port())
	copy(b[28:28+size], from.Addr().AsSlice())
	copy(b[44:44+size], to.Addr().AsSlice())
	ne.PutUint32(b[64:], 0xffffffff) // INET_DIAG_NOCOOKIE
	ne.PutUint32(b[68:], 0xffffffff)
	return b
}

// closedByDiag reads the answer: a socket that is not established any more, or
// none at all, has been closed.
func closedByDiag(b []byte) bool {
	if len(b) < 20 {
		return false
	}
	switch binary.NativeEndian.Uint16(b[4:]) {
	case unix.NLMSG_ERROR:
		return int32(binary.NativeEndian.Uint32(b[16:])) == -int32(unix.ENOENT)
	case sockDiagByFamily:
		return b[17] != 1 // idiag_state; 1 is TCP_ESTABLISHED
	}
	return false
}

// unreadByDiag reads from the answer how many bytes wait to be read there, and is
// 0 where it does not say: idiag_rqueue of a struct inet_diag_msg.
func unreadByDiag(b []byte) uint32 {
	if len(b) < 76 || binary.NativeEndian.Uint16(b[4:]) != sockDiagByFamily {
		return 0
	}
	return binary.NativeEndian.Uint32(b[72:])
}
