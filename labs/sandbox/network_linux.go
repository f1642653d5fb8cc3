package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// listen is how long the self-check waits for an answer that must not come. In
// a namespace on the same machine a refusal or an ICMP error takes microseconds.
const listen = 30 * time.Millisecond

// in6AddrGenModeNone is IN6_ADDR_GEN_MODE_NONE of linux/if_link.h.
const in6AddrGenModeNone = 1

// setUpNetwork makes the network of the namespace that this process is in:
//
//	connect 192.0.2.x -> route via 192.0.2.254 on blackhole0, whose permanent
//	neighbour entry names a link address that nobody has -> blackhole1 receives
//	the frame and drops it, as it is addressed to another host.
//
// Nothing is forwarded, filtered or rejected, so nothing can send an error back.
func setUpNetwork() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("loopback up: %w", err)
	}
	near, err := addPair()
	if err != nil {
		return err
	}
	// Connections need a source address that belongs to nobody: the IPv4 dummy
	// address (RFC 7600), alone in its /32. One of 192.0.2.0/24 would be a hole
	// in the black hole, as it would answer.
	source := net.IPv4(192, 0, 0, 8).To4()
	self := &netlink.Addr{IPNet: &net.IPNet{IP: source, Mask: net.CIDRMask(32, 32)}}
	if err := netlink.AddrAdd(near, self); err != nil {
		return fmt.Errorf("address of %s: %w", nearName, err)
	}
	gateway := net.IPv4(192, 0, 2, 254).To4()
	neighbour := &netlink.Neigh{
		LinkIndex:    near.Attrs().Index,
		Family:       netlink.FAMILY_V4,
		State:        netlink.NUD_PERMANENT,
		IP:           gateway,
		HardwareAddr: net.HardwareAddr{0x02, 0, 0xc0, 0, 0x02, 0xfe}, // locally administered
	}
	if err := netlink.NeighSet(neighbour); err != nil {
		return fmt.Errorf("neighbour entry: %w", err)
	}
	hole := BlackHole()
	route := &netlink.Route{
		LinkIndex: near.Attrs().Index,
		Dst:       &net.IPNet{IP: hole.Addr().AsSlice(), Mask: net.CIDRMask(hole.Bits(), 32)},
		Gw:        gateway, // one neighbour for all: no ARP, so no EHOSTUNREACH
		Src:       source,
		Flags:     int(netlink.FLAG_ONLINK),
	}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("route to %s: %w", hole, err)
	}
	return nil
}

// addPair makes the veth pair, silent and up, and returns its near end.
func addPair() (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = nearName
	err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: farName})
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return nil, fmt.Errorf("veth pair: %w: this kernel has no veth module (as root: modprobe veth)", err)
	case err != nil:
		return nil, fmt.Errorf("veth pair: %w", err)
	}
	var near netlink.Link
	for _, name := range []string{farName, nearName} {
		if near, err = netlink.LinkByName(name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		// No link-local address: nothing is to be reachable over the pair by
		// IPv6. It fails only where there is no IPv6, and so no address either.
		_ = netlink.LinkSetIP6AddrGenMode(near, in6AddrGenModeNone)
		if err := netlink.LinkSetUp(near); err != nil {
			return nil, fmt.Errorf("%s up: %w", name, err)
		}
	}
	return near, nil
}

// setSynRetries writes the namespace's own tcp_syn_retries; 0 leaves it.
func setSynRetries(n int) error {
	if n == 0 {
		return nil
	}
	err := os.WriteFile("/proc/sys/net/ipv4/tcp_syn_retries", []byte(strconv.Itoa(n)), 0)
	if err != nil {
		return fmt.Errorf("tcp_syn_retries=%d: %w", n, err)
	}
	return nil
}

// checkBlack proves that the hole is black: a SYN leaves, arrives at the far
// end, and within listen neither an answer nor an error comes back.
func checkBlack() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("self-check: %w", err)
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, &unix.SockaddrInet4{Addr: [4]byte{192, 0, 2, 1}, Port: 9})
	if !errors.Is(err, unix.EINPROGRESS) {
		return fmt.Errorf("self-check: connect to 192.0.2.1 is not silent: %w", orAnswered(err))
	}
	events, err := poll(fd, listen)
	if err != nil {
		return fmt.Errorf("self-check: %w", err)
	}
	if events != 0 {
		code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && code != 0 {
			err = unix.Errno(code)
		}
		return fmt.Errorf("self-check: connect to 192.0.2.1 is not silent: %w", orAnswered(err))
	}
	far, err := netlink.LinkByName(farName)
	if err != nil {
		return fmt.Errorf("self-check: %s: %w", farName, err)
	}
	if s := far.Attrs().Statistics; s == nil || s.RxPackets == 0 {
		return fmt.Errorf("self-check: the SYN to 192.0.2.1 did not arrive at %s", farName)
	}
	return nil
}

func orAnswered(err error) error {
	if err == nil {
		return errors.New("it was answered")
	}
	return err
}

// poll waits until fd is ready or limit has passed, and returns the events.
func poll(fd int, limit time.Duration) (int16, error) {
	end := time.Now().Add(limit)
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		left := max(0, int(time.Until(end).Milliseconds())+1)
		n, err := unix.Poll(fds, left)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n > 0:
			return fds[0].Revents, nil
		case !time.Now().Before(end):
			return 0, nil
		}
	}
}

// linearTimeouts is net.ipv4.tcp_syn_linear_timeouts of a new namespace: always
// the kernel's own default, whatever the machine has set for itself.
func linearTimeouts() int {
	if _, err := os.Stat("/proc/sys/net/ipv4/tcp_syn_linear_timeouts"); err != nil {
		return 0 // a kernel before 6.5
	}
	return 4
}
