package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chaoslab/cmd/internal/cli"
)

func TestFollowSaysWhenItIsUsedUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/end" {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}
	}))
	defer server.Close()
	const word = "--follow=2 is used up: the answer is one more redirect"
	for _, c := range []struct {
		name string
		args []string
		said bool
	}{
		{"used up", []string{server.URL + "/", "--follow=2"}, true},
		{"used up, with retries", []string{server.URL + "/", "--follow=2", "--attempts", "2"}, true},
		{"no redirect", []string{server.URL + "/end", "--follow=2"}, false},
		{"not asked for", []string{server.URL + "/"}, false},
	} {
		for _, format := range []string{"table", "json"} {
			var out, errs bytes.Buffer
			args := append([]string{"measure", "--format", format}, c.args...)
			code := cli.Run(context.Background(), newRoot, args, cli.Streams{Out: &out, Err: &errs})
			text := strings.Join(strings.Fields(out.String()), " ")
			if code != cli.ExitOK || strings.Contains(text, word) != c.said {
				t.Errorf("%s: %q: code %d, stderr %q, stdout %s; want code 0 and %q in it: %v", c.name, args, code, errs.String(), text, word, c.said)
			}
		}
	}
}
