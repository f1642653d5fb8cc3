package budgetcaller

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// mixedPartner ends each request as it asks for, and counts them by their id.
type mixedPartner struct {
	t    *testing.T
	mu   sync.Mutex
	seen map[string]int
}

// mixedEnds are the ways in which it ends them: what goes out for the nth request
// of an id, and then.
func mixedEnds() map[string]func(id string, n int) (answer string, then func(net.Conn)) {
	ok := func(id string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nId: %s\r\n\r\n%s", len(id), id, id)
	}
	half := func(id string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nId: %s\r\n\r\n%s", id, id)
	}
	none := func(net.Conn) {}
	reset := func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }
	type end = func(string, int) (string, func(net.Conn))
	return map[string]end{
		"ok":    func(id string, _ int) (string, func(net.Conn)) { return ok(id), nil },
		"hang":  func(string, int) (string, func(net.Conn)) { return "", hold },
		"stall": func(id string, _ int) (string, func(net.Conn)) { return half(id), hold },
		"cut":   func(id string, _ int) (string, func(net.Conn)) { return half(id), none },
		"close": func(string, int) (string, func(net.Conn)) { return "", none },
		"reset": func(string, int) (string, func(net.Conn)) { return "", reset },
		"last":  func(id string, _ int) (string, func(net.Conn)) { return ok(id), none },
		"chunks": func(id string, _ int) (string, func(net.Conn)) {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\nId: %s\r\n\r\n%x\r\n%s\r\n0\r\nT: %s\r\n\r\n", id, len(id), id, id), nil
		},
		"elsewhere": func(id string, _ int) (string, func(net.Conn)) {
			return fmt.Sprintf("HTTP/1.1 302 Found\r\nContent-Length: 4\r\nLocation: /ok?id=%s\r\nId: %s\r\n\r\ngone", id, id), nil
		},
		"second": func(id string, n int) (string, func(net.Conn)) {
			if n == 1 {
				return fmt.Sprintf("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nId: %s\r\n\r\nbusy", id), nil
			}
			return ok(id), nil
		},
		"again": func(id string, n int) (string, func(net.Conn)) {
			if n == 1 {
				return "", reset
			}
			return ok(id), nil
		},
	}
}

func (p *mixedPartner) serve(c net.Conn) {
	ends, br := mixedEnds(), bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // cut off by its sender: whether it counts, the records leave open
		}
		id := req.URL.Query().Get("id")
		if req.Header.Get("Id") != id || len(body) > 0 && !strings.HasPrefix(string(body), id+" ") {
			p.t.Errorf("%s came with header %v and body %.40q", id, req.Header, body)
		}
		p.mu.Lock()
		p.seen[id]++
		n := p.seen[id]
		p.mu.Unlock()
		answer, then := ends[strings.Trim(req.URL.Path, "/")](id, n)
		_, _ = io.WriteString(c, answer)
		if then != nil {
			then(c)
			return
		}
	}
}

// agrees holds that the partner saw what the records tell of.
func (p *mixedPartner) agrees(o *mixedOutcome) {
	least, most := 0, 0
	for i := range o.attempts {
		if o.attempts[i].Status != 0 {
			least++
		}
		if o.attempts[i].Effect != EffectNone {
			most++
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.seen[o.id]; n < least || n > most {
		p.t.Errorf("%s: the partner saw %d requests, the records tell of %d to %d: %s", o.id, n, least, most, o.text)
	}
}
