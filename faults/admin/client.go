package admin

import (
	"bufio"
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
	var out Listeners
	err := c.call(ctx, http.MethodGet, "/v1/listeners", nil, func(r io.Reader) error {
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
	err := c.call(ctx, http.MethodGet, "/v1/ledger"+encodeQuery(q, wait), nil, func(r io.Reader) error {
		return eachEntry(r, func(e faults.Entry) error {
			entries = append(entries, e)
			return nil
		})
	})
	return entries, err
}

// ClearLedger makes the partner forget its entries.
func (c *Client) ClearLedger(ctx context.Context) error {
	return c.call(ctx, http.MethodDelete, "/v1/ledger", nil, nil)
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

// eachEntry reads JSON Lines.
func eachEntry(r io.Reader, f func(faults.Entry) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e faults.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("the answer is no ledger: %w", err)
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return lines.Err()
}

// call sends a request and gives the body of a successful answer to read.
func (c *Client) call(ctx context.Context, method, path string, body io.Reader, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("admin %s: %w", c.base, err)
	}
	if body != nil {
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
		return fmt.Errorf("the partner at %s: %s", c.base, p.Error)
	}
	if read == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
		return err
	}
	return read(resp.Body)
}
