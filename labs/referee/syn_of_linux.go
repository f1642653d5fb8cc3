package referee

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// connectingOf adds our end of every connect over IPv4 that is under way in the
// network of a process to one of the ports, by the kernel's table (proc(5),
// /proc/net/tcp): the other one (sock_diag) is only to be had from inside. It returns
// false where it cannot be read; a process that has ended connects to nothing.
func connectingOf(pid int, ports map[uint16]bool, found map[netip.AddrPort]synSocket) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/net/tcp")
	if err != nil {
		_, gone := os.Stat("/proc/" + strconv.Itoa(pid))
		return gone != nil
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[3] != "02" { // TCP_SYN_SENT
			continue
		}
		local, ok := parseSocket(fields[1])
		remote, ok2 := parseSocket(fields[2])
		if ok && ok2 && ports[remote.Port()] {
			inode, _ := strconv.ParseUint(fields[9], 10, 32)
			found[local] = synSocket{remote.Port(), uint32(inode)}
		}
	}
	return true
}

// parseSocket reads 0100007F:1F90: the address as the kernel has it in memory, the
// port as a number.
func parseSocket(text string) (netip.AddrPort, bool) {
	address, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(address)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(b) != 4 {
		return netip.AddrPort{}, false
	}
	var ip [4]byte
	binary.NativeEndian.PutUint32(ip[:], binary.BigEndian.Uint32(b))
	return netip.AddrPortFrom(netip.AddrFrom4(ip), uint16(n)), true
}
