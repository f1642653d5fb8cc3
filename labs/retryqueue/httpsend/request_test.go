package httpsend

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/labs/retryqueue"
)

// What decoding would change without a word is refused, and the line names the
// key.
func TestDecodeChangesNothingSilently(t *testing.T) {
	t.Parallel()
	const url = `"url":"http://127.0.0.1/"`
	for _, c := range []struct{ name, payload, want string }{
		{"bytes that are no UTF-8", "{" + url + ",\"body\":\"a\xffb\"}", "body: the byte 0xff"},
		{"a cut character", "{" + url + ",\"body\":\"a\xc3\"}", "body: the byte 0xc3"},
		{"no UTF-8 in a header", "{" + url + ",\"header\":{\"X-A\":\"\xff\"}}", "header: the byte 0xff"},
		{"no UTF-8 in the url", "{\"url\":\"http://127.0.0.1/\xff\"}", "url: the byte 0xff"},
		{"a high half alone", `{` + url + `,"body":"a\ud800b"}`, `body: \ud800 alone`},
		{"a low half alone", `{` + url + `,"body":"\udc00"}`, `body: \udc00 alone`},
		{"two high halves", `{` + url + `,"body":"\ud83d\ud83d"}`, `body: \ud83d alone`},
		{"a half at the end", `{` + url + `,"body":"\ud83d"}`, `body: \ud83d alone`},
		{"a half before an escape", `{` + url + `,"body":"\ud83d\n\ude00"}`, `body: \ud83d alone`},
		{"a half in a header", `{` + url + `,"header":{"X-A":"\ud800"}}`, `header: \ud800 alone`},
		{"a key twice", `{` + url + `,"body":"a","body":"b"}`, "body: it stands twice"},
		{"a key in capitals", `{` + url + `,"BODY":"b"}`, "BODY: no such key"},
		{"a header twice", `{` + url + `,"header":{"X-A":"1","X-A":"2"}}`, "header: X-A: it stands twice"},
		{"a header twice in another case", `{` + url + `,"header":{"X-A":"1","x-a":"2"}}`, "header: x-a: it is the same one as X-A"},
		{"a header that is null", `{` + url + `,"header":{"X-A":null}}`, "header: X-A: its value is no string"},
		{"a host of its own", `{` + url + `,"header":{"Host":"other"}}`, "header: Host is set from the url"},
		{"a length of its own", `{` + url + `,"header":{"content-length":"5"}}`, "header: content-length belongs to the connection"},
		{"a user in the url", `{"url":"http://me:secret@127.0.0.1/"}`, "Authorization"},
	} {
		r, err := Decode([]byte(c.payload))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: Decode(%q): got %+v, %v, want one line with %q", c.name, c.payload, r, err, c.want)
		}
	}
	for _, c := range []struct{ payload, body string }{
		{`{` + url + `,"body":"\ud83d\ude00"}`, "\U0001f600"},
		{`{` + url + `,"body":"\\ud800"}`, `\ud800`},
		{`{` + url + `,"body":"\ufffd ` + "\ufffd" + `"}`, "\ufffd \ufffd"},
		{`{` + url + `,"body":"\u0000\"\u00e4"}`, "\x00\"ä"},
	} {
		if r, err := Decode([]byte(c.payload)); err != nil || r.Body != c.body {
			t.Errorf("Decode(%s): got %q, %v, want %q", c.payload, r.Body, err, c.body)
		}
	}
}

// What can never be sent is refused when it is handed in, by the rules of
// sending: what Encode takes goes out, and what the caller itself would refuse,
// Encode refuses.
func TestEncodeRefusesWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	caller, err := budgetcaller.New(budgetcaller.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer caller.Close()
	at := server.URL
	with := func(name, value string) Request { return Request{URL: at, Header: map[string]string{name: value}} }
	for _, c := range []struct {
		name string
		r    Request
		want string // empty: it is sent
	}{
		{"plain", Request{URL: at}, ""},
		{"a method of one's own", Request{URL: at, Method: "M-SEARCH"}, ""},
		{"lower case", Request{URL: at, Method: "get"}, ""},
		{"a header with a tab and umlauts", with("x-a", "a\tä"), ""},
		{"an empty header", with("X-A", ""), ""},
		{"a query and a fragment", Request{URL: at + "/a%20b?c=d#e"}, ""},
		{"a path that is not ASCII", Request{URL: at + "/ä"}, ""},
		{"port 99999", Request{URL: "http://127.0.0.1:99999/"}, "url: port 99999"},
		{"port 0", Request{URL: "http://127.0.0.1:0/"}, "url: port 0"},
		{"a port that is no number", Request{URL: "http://127.0.0.1:http/"}, "url: "},
		{"no host", Request{URL: "http:///x"}, "url: "},
		{"a port without a host", Request{URL: "http://:80/"}, "url: "},
		{"a host of colons", Request{URL: "http://a:b:c/"}, "url: "},
		{"an address that is none", Request{URL: "http://[::zz]/"}, "url: "},
		{"another scheme", Request{URL: "ftp://127.0.0.1/"}, "url: "},
		{"a blank in the host", Request{URL: "http://a b/"}, "url: "},
		{"a line break in the url", Request{URL: at + "/\n"}, "url: "},
		{"bytes that are no text in the url", Request{URL: at + "/\xff"}, "url: "},
		{"a method with a blank", Request{URL: at, Method: "G T"}, "method: "},
		{"a method that is not ASCII", Request{URL: at, Method: "GÉT"}, "method: "},
		{"CONNECT", Request{URL: at, Method: "CONNECT"}, "method: CONNECT"},
		{"a header without a name", with("", "x"), "header: "},
		{"a header name with a blank", with("X A", "x"), "header: "},
		{"a header name with a colon", with("X-A:", "x"), "header: "},
		{"a line break in a header", with("X-A", "x\r\nX-B: y"), "header: X-A"},
		{"a zero byte in a header", with("X-A", "\x00"), "header: X-A"},
		{"another control character", with("X-A", "\x01"), "header: X-A"},
		{"a header that is no text", with("X-A", "\xff"), "header: X-A"},
		{"two names in another case", Request{URL: at, Header: map[string]string{"X-A": "1", "x-a": "2"}}, "header: X-A and x-a"},
		{"a body that is no text", Request{URL: at, Body: "\xff"}, "body: "},
		{"two bodies", Request{URL: at, Body: "x", Base64: []byte("y")}, "body and body_base64"},
	} {
		payload, err := c.r.Encode()
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: Encode(%+v): got %v, want one line with %q", c.name, c.r, err, c.want)
		}
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := New(caller, DefaultTable()).Send(ctx, retryqueue.Job{ID: "a", Attempts: 1, Payload: payload}); err != nil {
			t.Errorf("%s: it was taken, and not sent: %v", c.name, err)
		}
		cancel()
	}
	// What the caller refuses by itself is refused before.
	for _, r := range []Request{
		{URL: "http://127.0.0.1:99999/"},
		{URL: "http://127.0.0.1:0/"},
		{URL: "ftp://127.0.0.1/"},
		{URL: "http://:80/"},
		{URL: "http://a:b:c/"},
		{URL: at, Method: "G(T"},
		with("X(A", "x"), with("X-A", "x\ny"), with("X-A", "\x00"),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if req, err := r.build(); err == nil {
			if _, err := caller.Run(ctx, req, nil); err == nil {
				t.Errorf("the test's own case: the caller takes %+v", r)
			}
		}
		cancel()
		if _, err := r.Encode(); err == nil {
			t.Errorf("Encode(%+v): no error, and the caller refuses it", r)
		}
	}
}
