package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// maxData is the longest request body that --data takes.
const maxData = 16 << 20

// request is what is sent in each run.
type request struct {
	method string
	header http.Header
	host   string // of the Host header, empty: the URL's
	body   []byte // nil: none
}

// to returns the request for a target, to be sent once.
func (r request) to(ctx context.Context, t target) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, t.url.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	req.Host = r.host
	return req, nil
}

// parseRequest makes a request of the values of --method, --header and --data.
// An empty method is GET, or POST where there are data.
func parseRequest(method string, headers []string, data *string, stdin io.Reader) (request, error) {
	r := request{method: method, header: http.Header{}}
	for _, h := range headers {
		name, value, err := parseHeader(h)
		switch {
		case err != nil:
			return request{}, fmt.Errorf("--header %q: %w", h, err)
		case name == "Host":
			r.host = value
		default:
			r.header.Add(name, value)
		}
	}
	if data != nil {
		body, err := readData(*data, stdin)
		if err != nil {
			return request{}, fmt.Errorf("--data: %w", err)
		}
		r.body = body
	}
	switch {
	case r.method == "" && data != nil:
		r.method = http.MethodPost
	case r.method == "":
		r.method = http.MethodGet
	case !isToken(r.method) || r.method == http.MethodConnect:
		return request{}, fmt.Errorf("--method %q is not a method that can be sent: write one such as GET or POST", r.method)
	}
	return r, nil
}

// parseHeader reads one header as "Name: value" (RFC 9110, section 5).
func parseHeader(line string) (name, value string, err error) {
	name, value, found := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	switch {
	case !found:
		return "", "", errors.New("no colon: write 'Name: value'")
	case !isToken(name):
		return "", "", fmt.Errorf("%q is not a header name: letters, digits and - only, no space before the colon", name)
	case strings.ContainsFunc(value, func(c rune) bool { return (c < ' ' && c != '\t') || c == 0x7f }):
		return "", "", errors.New("a control character in the value")
	}
	name = http.CanonicalHeaderKey(name)
	switch name {
	case "Content-Length", "Transfer-Encoding", "Connection", "Trailer", "Upgrade":
		return "", "", fmt.Errorf("%s is set by caller itself: it belongs to the connection", name)
	}
	return name, value, nil
}

// isToken says whether s is a token as RFC 9110, section 5.6.2 has it.
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune(marks, c)
	})
}

// readData returns the body that --data names: the text itself, @file the
// file's content, - or @- what stdin holds.
func readData(data string, stdin io.Reader) ([]byte, error) {
	switch {
	case data == "-" || data == "@-":
		return readBounded("stdin", stdin)
	case strings.HasPrefix(data, "@"):
		f, err := os.Open(data[1:])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readBounded(data[1:], f)
	case len(data) > maxData:
		return nil, fmt.Errorf("longer than %d MiB", maxData>>20)
	}
	return []byte(data), nil
}

func readBounded(name string, r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxData+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(body) > maxData {
		return nil, fmt.Errorf("%s: longer than %d MiB", name, maxData>>20)
	}
	return body, nil
}
