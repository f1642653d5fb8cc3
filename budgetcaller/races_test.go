package budgetcaller

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"
)

// A cancel and our own timer at the same moment: one of the two decides, and
// the record tells one story. A cancel that comes first is never read as
// anything else.
func TestRaceCancelAgainstOwnTimer(t *testing.T) {
	t.Parallel()
	url := raw(t, func(c net.Conn) { readRequest(c); hold(c) })
	const limit = 30 * time.Millisecond
	for _, tt := range []struct {
		name   string
		cancel time.Duration
		want   []Class
	}{
		{"cancel first", limit / 3, []Class{ClassCanceled}},
		{"same moment", limit, []Class{ClassCanceled, ClassReadTimeout}},
		{"timer first", time.Minute, []Class{ClassReadTimeout}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			read := limit
			if tt.name == "cancel first" {
				read = 4 * time.Second // a busy machine must not let both be due
			}
			c := newCaller(t, Config{Limits: Limits{Read: read}})
			for i := range 40 {
				ctx, cancel, err := Begin(t.Context(), 5*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				timer := time.AfterFunc(tt.cancel, cancel)
				rec := do(t, ctx, c, url, nil, nil)
				timer.Stop()
				cancel()
				found := false
				for _, class := range tt.want {
					found = found || rec.Class == class
				}
				switch {
				case !found:
					t.Fatalf("run %d: class %v (%v), want one of %v", i, rec.Class, rec.Err, tt.want)
				case rec.Class == ClassCanceled && (rec.Limit != LimitNone || rec.Overshoot != 0):
					t.Fatalf("run %d: canceled with limit %v, overshoot %v", i, rec.Limit, rec.Overshoot)
				case rec.Class == ClassReadTimeout && (rec.Limit != LimitRead || rec.Elapsed < limit):
					t.Fatalf("run %d: read_timeout with limit %v after %v", i, rec.Limit, rec.Elapsed)
				}
			}
		})
	}
}

// TLS' close_notify right behind the answer does not spoil it, and one that
// arrives with our own limit gives one of the two, never a third.
func TestRaceCloseNotifyAgainstAnswer(t *testing.T) {
	t.Parallel()
	const limit = 30 * time.Millisecond
	cert := httptest.NewUnstartedServer(nil)
	cert.StartTLS()
	defer cert.Close()
	serve := func(handle func(*tls.Conn)) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		serveConns(t, ln, func(c net.Conn) {
			s := tls.Server(c, &tls.Config{Certificates: cert.TLS.Certificates})
			readRequest(s)
			handle(s)
			hold(c)
		})
		return "https://" + ln.Addr().String() + "/"
	}
	trusting := &tls.Config{InsecureSkipVerify: true}
	c := newCaller(t, Config{Limits: Limits{Read: limit}, TLS: trusting})
	patient := newCaller(t, Config{TLS: trusting})
	whole := serve(func(s *tls.Conn) {
		_, _ = io.WriteString(s, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")
		_ = s.CloseWrite()
	})
	late := serve(func(s *tls.Conn) {
		_, _ = io.WriteString(s, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")
		time.Sleep(limit)
		_ = s.CloseWrite()
	})
	for i := range 40 {
		if rec := callOnce(t, patient, whole, 5*time.Second); rec.Class != ClassOK || rec.Bytes != 5 {
			t.Fatalf("run %d: close_notify behind the answer: %v, %d bytes (%v), want ok", i, rec.Class, rec.Bytes, rec.Err)
		}
		rec := callOnce(t, c, late, 5*time.Second)
		if rec.Class != ClassTruncated && rec.Class != ClassReadTimeout {
			t.Fatalf("run %d: close_notify against our limit: %v (%v)", i, rec.Class, rec.Err)
		}
		// On a busy machine our limit may come before the answer does.
		if rec.Phase == PhaseBody && (rec.Status != 200 || rec.Bytes != 5 || rec.Expected != 50) {
			t.Fatalf("run %d: status %d, %d of %d bytes in %v", i, rec.Status, rec.Bytes, rec.Expected, rec.Phase)
		}
	}
}

// What arrives after the verdict changes nothing: a record never shows more of
// the answer than its phase allows.
func TestRacePhaseChangeAfterVerdict(t *testing.T) {
	t.Parallel()
	const limit = 20 * time.Millisecond
	url := raw(t, func(c net.Conn) {
		readRequest(c)
		time.Sleep(limit)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
		hold(c)
	})
	c := newCaller(t, Config{Limits: Limits{Read: limit}})
	count := map[Class]int{}
	for i := range 80 {
		rec := callOnce(t, c, url, 5*time.Second)
		count[rec.Class]++
		_, reachedHead := rec.Phases.Took(PhaseHead)
		_, reachedBody := rec.Phases.Took(PhaseBody)
		switch {
		case rec.Class == ClassOK && rec.Phase == PhaseBody && rec.Status == 200:
		case rec.Class != ClassReadTimeout:
			t.Fatalf("run %d: %v (%v)", i, rec.Class, rec.Err)
		case rec.Phase < PhaseHead && reachedHead, rec.Phase < PhaseBody && (reachedBody || rec.Status != 0 || rec.Bytes != 0):
			t.Fatalf("run %d: cut in %v, yet status %d, %d bytes, phases %+v", i, rec.Phase, rec.Status, rec.Bytes, rec.Phases)
		}
	}
	t.Logf("classes: %v", count)
}

// slowSink takes its time over every write.
type slowSink struct{ pause time.Duration }

func (s slowSink) Write(p []byte) (int, error) {
	time.Sleep(s.pause)
	return len(p), nil
}

// A user who reads slowly is not the partner's silence, but is bound by the
// budget.
func TestRaceSlowReader(t *testing.T) {
	t.Parallel()
	const limit = 50 * time.Millisecond
	answer := append([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), make([]byte, 100000)...)
	url := raw(t, func(c net.Conn) {
		readRequest(c)
		_, _ = c.Write(answer)
		hold(c)
	})
	for _, tt := range []struct {
		name   string
		budget time.Duration
		want   Class
	}{
		{"longer pauses than the read limit", 20 * time.Second, ClassOK},
		{"longer in all than the budget", 300 * time.Millisecond, ClassBudgetExhausted},
	} {
		ctx, cancel, err := Begin(t.Context(), tt.budget)
		if err != nil {
			t.Fatal(err)
		}
		c := newCaller(t, Config{Limits: Limits{Read: limit}}) // each on a connection of its own
		rec := do(t, ctx, c, url, nil, slowSink{3 * limit})
		cancel()
		if rec.Class != tt.want || rec.Phase != PhaseBody {
			t.Errorf("%s: %v in %v (%v), want %v in body", tt.name, rec.Class, rec.Phase, rec.Err, tt.want)
		}
	}
}

// A partner that takes the request slowly but steadily is never cut for it,
// however long single writes last; one that stops is, as request_timeout.
func TestRaceSlowTaker(t *testing.T) {
	t.Parallel()
	const limit = 400 * time.Millisecond
	for _, tt := range []struct {
		name  string
		stops bool
		want  Class
		phase Phase
	}{
		{"steady", false, ClassOK, PhaseBody},
		{"stops", true, ClassRequestTimeout, PhaseRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const size = 6 << 20
			url := raw(t, func(c net.Conn) {
				_ = c.(*net.TCPConn).SetReadBuffer(64 << 10)
				buf := make([]byte, 64<<10)
				for taken := 0; taken < size; {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					taken += n
					if tt.stops && taken > size/8 {
						time.Sleep(5 * time.Second)
						return
					}
					time.Sleep(30 * time.Millisecond)
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				hold(c)
			})
			c := newCaller(t, Config{Limits: Limits{Read: limit}})
			ctx, cancel, err := Begin(t.Context(), 60*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer cancel()
			rec := do(t, ctx, c, url, bytes.NewReader(make([]byte, size)), nil)
			if rec.Class != tt.want || rec.Phase != tt.phase || rec.Effect == EffectNone {
				t.Errorf("got %v in %v, effect %v, after %v (%v); want %v in %v", rec.Class, rec.Phase, rec.Effect, rec.Elapsed, rec.Err, tt.want, tt.phase)
			}
			if tt.stops && (rec.Overshoot > late(rec.Start) || rec.Limit != LimitRead) {
				t.Errorf("limit %v, overshoot %v", rec.Limit, rec.Overshoot)
			}
		})
	}
}
