package faults

import "testing"

// What a head says of the body's length is known however it comes in pieces.
func TestHeadSaysLengthTwice(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, head string
		minor      int
		faulty     bool
	}{
		{"neither", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", 1, false},
		{"length", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 1, false},
		{"coded", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 1, false},
		{"both", "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 1, true},
		{"both, in other letters, without CR", "POST / HTTP/1.1\ntransfer-encoding:chunked\ncontent-length:5\n\n", 1, true},
		{"coded, of 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 0, true},
		{"names that go on", "POST / HTTP/1.1\r\nContent-Length-X: 5\r\nTransfer-Encodings: x\r\n\r\n", 1, false},
		{"in a value", "POST / HTTP/1.1\r\nX: Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 1, false},
		{"behind the head", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nContent-Length: 5\r\n", 1, false},
	} {
		for piece := 1; piece <= len(tc.head); piece++ {
			h := headLines{within: true, empty: true}
			for rest := []byte(tc.head); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				if !h.scan(rest[:min(piece, len(rest))]) {
					t.Fatalf("%s: too many lines", tc.name)
				}
			}
			if got := h.faulty(tc.minor); got != tc.faulty {
				t.Errorf("%s: %q in pieces of %d: got %v, want %v", tc.name, tc.head, piece, got, tc.faulty)
			}
		}
	}
}
