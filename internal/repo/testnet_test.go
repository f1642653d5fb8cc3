package repo

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// testNet matches an address of the networks that are meant to lead nowhere
// (RFC 5737, RFC 3849) or are taken to (10.255.255.x), also as the bytes of a Go
// array. On many networks they lead somewhere: to a gateway that refuses or
// even answers.
var testNet = regexp.MustCompile(`\b(192\.0\.2|198\.51\.100|203\.0\.113|10\.255\.255)\.\d|\b(?i:2001:0?db8)\b|\b(192, *0, *2|198, *51, *100|203, *0, *113|10, *255, *255)\b`)

// testNetAllowed says where such an address may stand, and why nothing is sent
// to it from there outside the sandbox. A folder ends with a slash.
func testNetAllowed() []struct{ path, reason string } {
	return []struct{ path, reason string }{
		{"labs/sandbox/", "makes the private network in which the address is a black hole"},
		{"cmd/caller/sandbox.go", "its help shows commands that run in the private network"},
		{"cmd/caller/sandbox_test.go", "holds those messages"},
		{"internal/repo/testnet_test.go", "looks for them"},
	}
}

// P4: a text search outside the sandbox finds no test-net address.
func TestP4NoTestNetAddressOutsideTheSandbox(t *testing.T) {
	t.Parallel()
	var found []string
	used := map[string]bool{}
	for _, f := range textFiles(t) {
		hits := testNetHits(f)
		for _, a := range testNetAllowed() {
			if f.path == a.path || strings.HasSuffix(a.path, "/") && strings.HasPrefix(f.path, a.path) {
				used[a.path] = used[a.path] || len(hits) > 0
				hits = nil
			}
		}
		found = append(found, hits...)
	}
	report(t, found)
	for _, a := range testNetAllowed() {
		if hit, seen := used[a.path]; seen && !hit {
			t.Errorf("%s holds no such address: take it out of testNetAllowed", a.path)
		}
	}
}

// testNetHits names the lines of f that hold a test-net address. Prose may name
// one: Markdown, and the comments of Go.
func testNetHits(f file) []string {
	if strings.HasSuffix(f.path, ".md") {
		return nil
	}
	text := f.text
	if f.isGo() {
		text = withoutComments(text)
	}
	var hits []string
	for i, line := range strings.Split(text, "\n") {
		if addr := testNet.FindString(line); addr != "" {
			hits = append(hits, fmt.Sprintf("%s:%d: %s leads somewhere on some networks: use loopback, or, if it is only used in the sandbox, say so in testNetAllowed", f.path, i+1, addr))
		}
	}
	return hits
}

// withoutComments returns Go source with its comments blanked out and its lines
// where they were.
func withoutComments(src string) string {
	blank := []byte(src)
	tokens := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(tokens, []byte(src), nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return string(blank)
		}
		if tok != token.COMMENT {
			continue
		}
		comment := blank[tokens.Offset(pos):][:len(lit)]
		for i, c := range comment {
			if c != '\n' {
				comment[i] = ' '
			}
		}
	}
}

func TestTestNetHits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, text string
		hits             int
	}{
		{"script", "scripts/x.sh", "#!/bin/sh\ncurl http://192.0.2.1/\n", 1},
		{"testscript", "cmd/x/testdata/script/x.txtar", "exec caller measure http://198.51.100.254/", 1},
		{"Go string", "x_test.go", "package x\n\nconst a = \"http://203.0.113.9/\"\n", 1},
		{"Go bytes", "x_test.go", "package x\n\nvar a = [4]byte{192, 0, 2, 1}\n", 1},
		{"IPv6", "x_test.go", "package x\n\nconst a = \"[2001:db8::1]:80\"\n", 1},
		{"another black hole", "x.yaml", "target: 10.255.255.1:80", 1},
		{"Go comment", "x.go", "package x\n\n// Not 192.0.2.1.\n/* nor\n192.0.2.2 */\n", 0},
		{"comment in a string", "x.go", "package x\n\nconst a = \"// 192.0.2.1\"\n", 1},
		{"prose", "README.md", "192.0.2.0/24", 0},
		{"loopback", "x_test.go", "package x\n\nconst a = \"127.0.0.1:80\"\n", 0},
		{"a version", "go.mod", "example.org/x v1.192.0\nexample.org/y v2.0.2", 0},
	} {
		if got := testNetHits(file{c.path, c.text}); len(got) != c.hits {
			t.Errorf("%s: testNetHits(%q in %s) = %q, want %d hits", c.name, c.text, c.path, got, c.hits)
		}
	}
}
