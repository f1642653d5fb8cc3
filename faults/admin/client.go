package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"chaoslab/faults"
)

// Client talks to an admin port. It is safe for concurrent use.
type Client struct {
	base string
	http *http.Client
}

// NewClient returns a client for the admin port at rawURL, such as
// http://127.0.0.1:8079. Nothing is sent yet.
func NewClient(rawURL string) (*Client, error) {
	u, err := url.Parse(rawURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("admin URL %q: write it with its scheme, such as http://127.0.0.1:8079", rawURL)
	}
	// A proxy from the environment would not know our loopback.
	transport := &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second}
	return &Client{strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/"), &http.Client{Transport: transport}}, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Listeners returns the partner's listeners.
func (c *Client) Listeners(ctx context.Context) ([]faults.Listener, error) {
	return c.listeners(ctx, http.MethodGet, "/v1/listeners", nil)
}

func (c *Client) listeners(ctx context.Context, method, path string, body io.Reader) ([]faults.Listener, error) {
	var out Listeners
	err := c.call(ctx, method, path, body, func(r io.Reader) error {
		return json.NewDecoder(r).Decode(&out)
	})
	if err == nil && out.Schema != ListenersSchema {
		err = fmt.Errorf("%s is no partner's admin port", c.base)
	}
	return out.Listeners, err
}

// Ledger returns the entries asked for. If wait is above 0, the partner holds
// its answer for up to so long until there are some and all have ended.
func (c *Client) Ledger(ctx context.Context, q faults.Query, wait time.Duration) ([]faults.Entry, error) {
	var entries []faults.Entry
	err := c.EachEntry(ctx, q, wait, func(e faults.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// EachEntry is Ledger for many entries: it calls each with one after the other,
// until that returns an error.
func (c *Client) EachEntry(ctx context.Context, q faults.Query, wait time.Duration, each func(faults.Entry) error) error {
	return c.call(ctx, http.MethodGet, "/v1/ledger"+encodeQuery(q, wait), nil, func(r io.Reader) error {
		return eachLine(r, func(line []byte) error { return decodeEntry(line, each) })
	})
}

func decodeEntry(line []byte, each func(faults.Entry) error) error {
	var e faults.Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("the answer is no ledger: %w", err)
	}
	return each(e)
}

// ClearLedger makes the partner forget its entries.
func (c *Client) ClearLedger(ctx context.Context) error {
	return c.call(ctx, http.MethodDelete, "/v1/ledger", nil, nil)
}

// Set gives a listener other faults; see faults.Partner.Set. It returns the
// listeners as they are then.
func (c *Client) Set(ctx context.Context, listener string, specs []string, ttl time.Duration) ([]faults.Listener, error) {
	change := Change{Faults: append([]string{}, specs...)}
	if ttl > 0 {
		change.TTL = ttl.String()
	}
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	return c.listeners(ctx, http.MethodPut, "/v1/listeners/"+url.PathEscape(listener)+"/faults", bytes.NewReader(body))
}

// Reset gives a listener, or all if the name is empty, the faults it was started
// with. It returns the listeners as they are then.
func (c *Client) Reset(ctx context.Context, listener string) ([]faults.Listener, error) {
	path := "/v1/faults"
	if listener != "" {
		path = "/v1/listeners/" + url.PathEscape(listener) + "/faults"
	}
	return c.listeners(ctx, http.MethodDelete, path, nil)
}

// Effects returns what each listener has really done.
func (c *Client) Effects(ctx context.Context) ([]faults.Effects, error) {
	var all []faults.Effects
	err := c.call(ctx, http.MethodGet, "/v1/effects", nil, func(r io.Reader) error {
		dec := json.NewDecoder(r)
		for {
			var e faults.Effects
			if err := dec.Decode(&e); err == io.EOF {
				return nil
			} else if err != nil {
				return fmt.Errorf("the answer tells no effects: %w", err)
			}
			all = append(all, e)
		}
	})
	return all, err
}

// ClearEffects makes the partner forget effects and keys.
func (c *Client) ClearEffects(ctx context.Context) error {
	return c.call(ctx, http.MethodDelete, "/v1/effects", nil, nil)
}

// Stream calls each with every entry that becomes final from now on, and missed
// with how many could not be sent when that is known, until ctx is done or the
// partner ends, which is no error, or one of the two returns one.
func (c *Client) Stream(ctx context.Context, each func(faults.Entry) error, missed func(uint64) error) error {
	err := c.call(ctx, http.MethodGet, "/v1/ledger/stream", nil, func(r io.Reader) error {
		return eachLine(r, func(line []byte) error {
			var m Missed
			if json.Unmarshal(line, &m) == nil && m.Schema == MissedSchema {
				return missed(m.Missed)
			}
			return decodeEntry(line, each)
		})
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func encodeQuery(q faults.Query, wait time.Duration) string {
	v := url.Values{}
	if q.Listener != "" {
		v.Set("listener", q.Listener)
	}
	if q.Remote.IsValid() {
		v.Set("remote", q.Remote.String())
	}
	for key, n := range map[string]uint64{"nth": uint64(q.Nth), "after": q.After, "limit": uint64(q.Limit)} {
		if n > 0 {
			v.Set(key, strconv.FormatUint(n, 10))
		}
	}
	if wait > 0 {
		v.Set("wait", wait.String())
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// eachLine reads JSON Lines.
func eachLine(r io.Reader, f func([]byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := f(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// RefusedError is what a partner has against a request: with status 400 it is the
// fault of what was asked.
type RefusedError struct {
	Status int
	text   string
}

// Error implements error.
func (e *RefusedError) Error() string { return e.text }

// call sends a request and gives the body of a successful answer to read.
func (c *Client) call(ctx context.Context, method, path string, body io.Reader, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("admin %s: %w", c.base, err)
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("admin %s: %w", c.base, ctx.Err())
		}
		return fmt.Errorf("no partner answers at %s: start one with partner, or give the URL of its admin port: %w", c.base, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		var p problem
		if json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&p) != nil || p.Error == "" {
			return fmt.Errorf("%s is no partner's admin port: it answers %s", c.base, resp.Status)
		}
		return &RefusedError{Status: resp.StatusCode, text: fmt.Sprintf("the partner at %s: %s", c.base, p.Error)}
	}
	if read == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
		return err
	}
	return read(resp.Body)
}
