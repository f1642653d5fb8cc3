package budgetcaller

import "golang.org/x/sys/unix"

// taken asks the kernel. TCP_INFO's tcpi_bytes_acked (Linux 4.1, RFC 4898) only
// ever grows, so progress shows also while one long write keeps the send queue
// full; SIOCOUTQ counts what is still in the queue.
func (c *conn) taken() takenBytes {
	var t takenBytes
	if c.raw == nil {
		return t
	}
	_ = c.raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			t.bytes = info.Bytes_acked
		}
		if n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil && n > 0 {
			t.queued = uint64(n)
		}
	})
	return t
}
