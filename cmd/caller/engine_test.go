package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
)

// measureReal measures with the real engine as args say.
func measureReal(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := cli.Streams{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr}
	code = cli.Run(context.Background(), newRoot, append([]string{"measure", "--format", "json"}, args...), s)
	return code, stdout.String(), stderr.String()
}

func TestMeasureTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown authority", nil, `"class":"tls_failed","phase":"tls"`},
		{"any certificate", []string{"--insecure"}, `"class":"ok"`},
		{"its authority", []string{"--ca", ca}, `"class":"ok"`},
	} {
		code, out, errs := measureReal(t, "", append(c.args, server.URL)...)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s: code %d, stdout %s, stderr %s; want 0 and %s", c.name, code, out, errs, c.want)
		}
	}
}

func TestMeasureSendsWhatItIsTold(t *testing.T) {
	t.Parallel()
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.Host + " " + r.URL.String() + " " + r.Header.Get("X-One") + " " + string(body)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	code, out, errs := measureReal(t, "the body", server.URL+"/a?b=c", "--method", "PUT", "--header", "X-One: 1", "--header", "Host: other", "--data", "-")
	if want := "PUT other /a?b=c 1 the body"; code != 0 || got != want || !strings.Contains(out, `"class":"status"`) || !strings.Contains(out, `"status":418`) {
		t.Errorf("code %d, stdout %s, stderr %s, the server got %q; want 0, status 418 and %q", code, out, errs, got, want)
	}
}

func TestMeasureRedirects(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/there", http.StatusFound)
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{`"class":"ok"`, `"attempts":1,"status":302`, `"location":"/there"`}},
		{[]string{"--follow"}, []string{`"class":"ok"`, `"attempts":2,"status":200`}},
	} {
		code, out, errs := measureReal(t, "", append(c.args, server.URL)...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%q: code %d, stdout %s, stderr %s; want 0 and %s", c.args, code, out, errs, want)
			}
		}
	}
}

func TestMeasureWaitsForAFreeConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(400 * time.Millisecond) }))
	defer server.Close()
	code, out, errs := measureReal(t, "", server.URL, "-n", "2", "-c", "2", "--max-conns", "1", "--pool-timeout", "50ms")
	if code != 0 || strings.Count(out, `"class":"pool_timeout","phase":"pool","limit":"pool","effect":"none","configured_ms":50`) != 1 || strings.Count(out, `"class":"ok","phase"`) != 1 {
		t.Errorf("code %d, stdout %s, stderr %s; want one pool_timeout and one ok", code, out, errs)
	}
}
