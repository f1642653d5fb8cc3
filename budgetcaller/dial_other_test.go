//go:build !linux

package budgetcaller

import (
	"net"
	"testing"
)

// refusedPort returns a port of 127.0.0.1 that was free a moment ago.
func refusedPort(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}
