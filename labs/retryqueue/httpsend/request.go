package httpsend

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

// Decode reads a payload that Encode made.
func Decode(payload []byte) (Request, error) {
	var r Request
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("payload: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("payload: more than one JSON value")
	}
	return r, r.check()
}

func (r Request) check() error {
	u, err := url.Parse(r.URL)
	switch {
	case r.URL == "":
		return errors.New("url: empty")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("url: %q: write http://HOST/PATH or https://HOST/PATH", r.URL)
	case r.Body != "" && r.Base64 != nil:
		return errors.New("body and body_base64: only one of them")
	}
	_, err = r.build()
	return err
}

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
		switch http.CanonicalHeaderKey(name) {
		case "Idempotency-Key", "X-Request-Attempt":
			return nil, fmt.Errorf("header: %s is set by the queue", name)
		}
		req.Header.Set(name, value)
	}
	return req, nil
}
