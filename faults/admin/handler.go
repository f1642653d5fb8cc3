package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"chaoslab/faults"
)

// ListenersSchema names the form of the answer to GET /v1/listeners.
const ListenersSchema = "partner.listeners/1"

// MaxWait bounds how long GET /v1/ledger?wait= holds its answer.
const MaxWait = time.Minute

// Listeners is the answer to GET /v1/listeners.
type Listeners struct {
	Schema    string            `json:"schema"`
	Seed      uint64            `json:"seed"`
	Listeners []faults.Listener `json:"listeners"`
}

// handler serves one partner.
type handler struct {
	partner *faults.Partner
	queue   int // how many entries may wait for a slow reader of a stream
}

// Handler returns the admin port's handler for p. Unless anyHost is set it
// answers only to a loopback Host, so that no name that a web page controls
// leads here.
func Handler(p *faults.Partner, anyHost bool) http.Handler {
	h := handler{p, streamQueue}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collector{p})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", h.health)
	mux.HandleFunc("GET /v1/listeners", h.listeners)
	mux.HandleFunc("GET /v1/ledger", h.ledger)
	mux.HandleFunc("DELETE /v1/ledger", h.clearLedger)
	mux.HandleFunc("GET /v1/ledger/stream", h.stream)
	mux.HandleFunc("GET /v1/effects", h.effects)
	mux.HandleFunc("DELETE /v1/effects", h.clearEffects)
	mux.HandleFunc("PUT /v1/listeners/{name}/faults", h.set)
	mux.HandleFunc("DELETE /v1/listeners/{name}/faults", h.reset)
	mux.HandleFunc("DELETE /v1/faults", h.reset)
	return guard(mux, anyHost)
}

// guard refuses what a web page could send.
func guard(next http.Handler, anyHost bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		changes := r.Method != http.MethodGet && r.Method != http.MethodHead
		switch {
		case !anyHost && !isLoopback(strings.Trim(host, "[]")):
			fail(w, http.StatusForbidden, fmt.Errorf("the Host %q is not loopback", r.Host))
		case changes && r.Header.Get("Origin") != "":
			fail(w, http.StatusForbidden, errors.New("a request with an Origin comes from a web page: nothing is changed for it"))
		case changes && !isJSON(r.Header.Get("Content-Type")):
			fail(w, http.StatusUnsupportedMediaType, errors.New("changes are sent with Content-Type: application/json"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "application/json"
}

// problem is the body of every answer that is not a success.
type problem struct {
	Error string `json:"error"`
}

func fail(w http.ResponseWriter, status int, err error) {
	answer(w, status, problem{err.Error()})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone, or gets it
}

func (h handler) listeners(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, Listeners{ListenersSchema, h.partner.Seed(), h.partner.Listeners()})
}

// health answers with 503 and one line for each port that is not in the state
// that it is to be in.
func (h handler) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	troubles := h.partner.Troubles()
	if len(troubles) == 0 {
		_, _ = w.Write([]byte("ok\n"))
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	for _, t := range troubles {
		fmt.Fprintf(w, "%s: %s\n", t.Listener, t.Text)
	}
}

func (h handler) clearLedger(w http.ResponseWriter, _ *http.Request) {
	h.partner.Ledger().Clear()
	w.WriteHeader(http.StatusNoContent)
}

// ledger answers with one entry a line.
func (h handler) ledger(w http.ResponseWriter, r *http.Request) {
	q, wait, err := parseQuery(r.URL.RawQuery)
	if err == nil && q.Listener != "" {
		err = h.known(q.Listener)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	enc := json.NewEncoder(w)
	send := func(e faults.Entry) error { return enc.Encode(e) }
	// An error is the client's leaving: there is nobody to tell.
	if wait == 0 {
		_ = h.partner.Ledger().Each(q, send)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	_ = h.partner.Ledger().WaitEach(ctx, q, send)
}

// known says that there is no such listener, if there is none.
func (h handler) known(name string) error {
	var names []string
	for _, l := range h.partner.Listeners() {
		if l.Name == name {
			return nil
		}
		names = append(names, l.Name)
	}
	return fmt.Errorf("no listener %q: one of %s", name, strings.Join(names, ", "))
}

// parseQuery reads what GET /v1/ledger is asked for.
func parseQuery(raw string) (q faults.Query, wait time.Duration, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, 0, errors.New("the query cannot be read")
	}
	for key, v := range values {
		if len(v) != 1 {
			return q, 0, fmt.Errorf("%s is given twice", key)
		}
		switch key {
		case "listener":
			if q.Listener = v[0]; q.Listener == "" {
				err = errors.New("listener: empty: leave it out for all")
			}
		case "remote":
			if q.Remote, err = netip.ParseAddrPort(v[0]); err != nil {
				err = fmt.Errorf("remote: %q is not IP:PORT", v[0])
			}
		case "nth":
			q.Nth, err = count(key, v[0])
		case "limit":
			q.Limit, err = count(key, v[0])
		case "after":
			if q.After, err = strconv.ParseUint(v[0], 10, 64); err != nil {
				err = fmt.Errorf("after: %q is not a sequence number", v[0])
			}
		case "wait":
			if wait, err = time.ParseDuration(v[0]); err != nil || wait < 0 || wait > MaxWait {
				err = fmt.Errorf("wait: %q is not a duration from 0 to %s", v[0], MaxWait)
			}
		default:
			err = fmt.Errorf("unknown parameter %q: listener, remote, nth, after, limit or wait", key)
		}
		if err != nil {
			return q, 0, err
		}
	}
	if q.Nth > 0 && !q.Remote.IsValid() {
		return q, 0, errors.New("nth needs remote: it counts the requests of one connection")
	}
	return q, wait, nil
}

func count(key, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a whole number", key, text)
	}
	return int(n), nil
}
