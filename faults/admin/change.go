package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"chaoslab/faults"
)

// Change is the body of PUT /v1/listeners/{name}/faults.
type Change struct {
	Faults []string `json:"faults"`        // in order, as faults.Parse reads them; none: ok
	TTL    string   `json:"ttl,omitempty"` // after this the former faults return; empty: never
}

// maxChange bounds the body of a change.
const maxChange = 64 << 10

// parseChange reads a change, strictly.
func parseChange(modes faults.Modes, body []byte) ([]faults.Spec, time.Duration, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	var c Change
	if err := dec.Decode(&c); err != nil {
		return nil, 0, fmt.Errorf(`the body is not {"faults":["slow:delay=1s"],"ttl":"10s"}: %w`, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, 0, errors.New("the body goes on after the change")
	}
	if c.Faults == nil {
		return nil, 0, errors.New(`"faults" is missing: the list of faults, empty for ok`)
	}
	specs := make([]faults.Spec, 0, len(c.Faults))
	for _, text := range c.Faults {
		s, err := modes.Parse(text)
		if err != nil {
			return nil, 0, err
		}
		specs = append(specs, s)
	}
	if c.TTL == "" {
		return specs, 0, nil
	}
	ttl, err := time.ParseDuration(c.TTL)
	if err != nil || ttl <= 0 || ttl > faults.MaxTTL {
		return nil, 0, fmt.Errorf("ttl: %q is not a duration above 0 and up to %v, such as 10s", c.TTL, faults.MaxTTL)
	}
	return specs, ttl, nil
}

func (h handler) set(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxChange))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is longer than %d bytes", maxChange))
		return
	}
	specs, ttl, err := parseChange(h.partner.Modes(), body)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	h.changed(w, r, h.partner.Set(r.PathValue("name"), specs, ttl))
}

func (h handler) reset(w http.ResponseWriter, r *http.Request) {
	h.changed(w, r, h.partner.Reset(r.PathValue("name")))
}

// changed answers with the listeners as they are now.
func (h handler) changed(w http.ResponseWriter, r *http.Request, err error) {
	var wrong *faults.ConfigError
	switch {
	case errors.As(err, &wrong):
		fail(w, http.StatusBadRequest, err)
	case err != nil:
		fail(w, http.StatusInternalServerError, err)
	default:
		h.listeners(w, r)
	}
}

func (h handler) effects(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl")
	enc := json.NewEncoder(w)
	for _, e := range h.partner.Effects() {
		if enc.Encode(e) != nil {
			return
		}
	}
}

func (h handler) clearEffects(w http.ResponseWriter, _ *http.Request) {
	h.partner.ClearEffects()
	w.WriteHeader(http.StatusNoContent)
}

// streamQueue is how many entries may wait for a slow reader of the stream.
const streamQueue = 4096

// tellMissed is how soon a stream says that something was missed, if no entry
// comes by which to say it.
const tellMissed = 500 * time.Millisecond

// Missed is the line of a stream that says how many entries its reader was too
// slow for, since the last such line. It comes before the next entry, or within a
// second.
type Missed struct {
	Schema string `json:"schema"`
	Missed uint64 `json:"missed"`
}

// MissedSchema names the form of Missed.
const MissedSchema = "partner.missed/1"

// stream sends every entry that ends, one a line, until the client leaves or the
// port is shut down; what has ended by then is still sent.
func (h handler) stream(w http.ResponseWriter, r *http.Request) {
	feed := h.partner.Ledger().Follow(h.queue)
	defer feed.Close()
	w.Header().Set("Content-Type", "application/jsonl")
	enc := json.NewEncoder(w)
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Time{})
	if out.Flush() != nil {
		return
	}
	tick := time.NewTicker(tellMissed)
	defer tick.Stop()
	done := r.Context().Done()
	for open := true; open; {
		var err error
		select {
		case e, more := <-feed.Entries():
			if open = more; !open {
				break
			}
			if err = writeMissed(enc, feed); err == nil {
				err = enc.Encode(e)
			}
		case <-tick.C:
			err = writeMissed(enc, feed)
		case <-done:
			done = nil
			feed.Close() // nothing more comes; what it holds still does
		}
		if err == nil && len(feed.Entries()) == 0 {
			err = out.Flush()
		}
		if err != nil {
			return
		}
	}
}

// writeMissed writes how many entries the feed has lost, if any.
func writeMissed(enc *json.Encoder, feed *faults.Feed) error {
	if n := feed.Missed(); n > 0 {
		return enc.Encode(Missed{MissedSchema, n})
	}
	return nil
}
