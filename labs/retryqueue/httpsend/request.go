package httpsend

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"chaoslab/internal/jsonobject"
)

// Request is what a job's payload says is to be sent.
type Request struct {
	Method string            `json:"method,omitempty"` // empty: POST
	URL    string            `json:"url"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
	Base64 []byte            `json:"body_base64,omitempty"` // instead of Body, for bytes that are no text
}

// Encode returns the payload for r, or an error that names what is wrong with it.
func (r Request) Encode() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// Decode reads a payload that Encode made. What decoding would change without a
// word is an error: see CheckJSON.
func Decode(payload []byte) (Request, error) {
	var r Request
	if err := CheckJSON(payload); err != nil {
		return r, fmt.Errorf("payload: %w", err)
	}
	err := jsonobject.EachKey(payload, func(key string, _ json.RawMessage) error {
		if !slices.Contains([]string{"method", "url", "header", "body", "body_base64"}, key) {
			return errors.New("no such key: method, url, header, body, body_base64")
		}
		return nil
	})
	if err == nil {
		err = json.Unmarshal(payload, &r)
	}
	if err != nil {
		return r, fmt.Errorf("payload: %w", err)
	}
	return r, r.check()
}

// check holds r to the rules by which it will be sent, so that what can never be
// sent is never handed in.
func (r Request) check() error {
	if r.Body != "" && r.Base64 != nil {
		return errors.New("body and body_base64: only one of them")
	}
	if !utf8.ValidString(r.Body) {
		return errors.New("body: it is no UTF-8 text: use body_base64 for other bytes")
	}
	return cmp.Or(r.checkMethod(), r.checkURL(), r.checkHeader())
}

func (r Request) checkMethod() error {
	switch {
	case r.Method == "":
	case !isToken(r.Method):
		return fmt.Errorf("method: %q is not a word of HTTP", r.Method)
	case r.Method == http.MethodConnect:
		return errors.New("method: CONNECT asks for a tunnel, and nothing would go through it")
	}
	return nil
}

func (r Request) checkURL() error {
	if r.URL == "" {
		return errors.New("url: empty")
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("url: %q: write http://HOST/PATH or https://HOST/PATH", r.URL)
	}
	if u.User != nil {
		return errors.New("url: a user and a password in it are not sent: write a header Authorization")
	}
	host, port := u.Hostname(), u.Port()
	if !utf8.ValidString(r.URL) || strings.ContainsFunc(host, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '/' }) {
		return fmt.Errorf("url: %q holds what no URL has", r.URL)
	}
	if strings.Contains(host, ":") {
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Errorf("url: host %q is neither a name nor an address", host)
		}
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		return fmt.Errorf("url: port %s is out of range: from 1 to 65535", port)
	}
	return nil
}

func (r Request) checkHeader() error {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		canonical := http.CanonicalHeaderKey(name)
		if err := CheckHeader(name, r.Header[name]); err != nil {
			return fmt.Errorf("header: %w", err)
		}
		if seen[canonical] != "" {
			return fmt.Errorf("header: %s and %s are the same one: give it once", seen[canonical], name)
		}
		seen[canonical] = name
	}
	return nil
}

// CheckHeader returns an error that says why a job cannot have this header.
func CheckHeader(name, value string) error {
	switch http.CanonicalHeaderKey(name) {
	case "Idempotency-Key", "X-Request-Attempt":
		return fmt.Errorf("%s is set by the queue", name)
	case "Host":
		return fmt.Errorf("%s is set from the url, and another is not sent", name)
	case "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Upgrade":
		return fmt.Errorf("%s belongs to the connection, and is not sent as given", name)
	}
	switch {
	case !isToken(name):
		return fmt.Errorf("%q is not a name: letters, digits and - only", name)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		return fmt.Errorf("%s: %q holds what no header can", name, value)
	}
	return nil
}

// isToken says whether s is a token as RFC 9110, section 5.6.2 has it.
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune(marks, c)
	})
}

// build makes the request, which must have been checked.
func (r Request) build() (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	body := r.Base64
	if r.Body != "" {
		body = []byte(r.Body)
	}
	req, err := http.NewRequest(method, r.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return req, nil
}
