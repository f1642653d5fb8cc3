package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// parseArgs runs measure with args up to the point where it would measure.
func parseArgs(t *testing.T, stdin string, args ...string) (*measureOptions, int, string) {
	t.Helper()
	var got *measureOptions
	var out, errs bytes.Buffer
	s := cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs}
	code := cli.Run(context.Background(), func(s cli.Streams) *cobra.Command {
		root := &cobra.Command{Use: "caller"}
		root.AddCommand(newMeasure(s, func(_ context.Context, o *measureOptions, _ cli.Streams) error {
			got = o
			return nil
		}))
		return root
	}, append([]string{"measure"}, args...), s)
	if out.Len() > 0 {
		t.Errorf("%q: stdout %q, want nothing", args, out.String())
	}
	return got, code, errs.String()
}

func TestMeasureDefaults(t *testing.T) {
	t.Parallel()
	o, code, errs := parseArgs(t, "", "http://127.0.0.1:8080")
	if code != 0 {
		t.Fatalf("code %d, stderr %q; want 0", code, errs)
	}
	want := budgetcaller.Config{Limits: budgetcaller.Limits{
		Connect: time.Second, Read: 10 * time.Second,
		Attempt: budgetcaller.NoLimit, Pool: budgetcaller.NoLimit, Floor: time.Millisecond,
	}}
	if got := o.config(); !reflect.DeepEqual(got, want) {
		t.Errorf("config %+v, want %+v", got, want)
	}
	if o.budget.D != 30*time.Second || o.runs != 1 || o.parallel != 1 || o.format.Value != "table" || o.request.method != http.MethodGet {
		t.Errorf("options %+v, want budget 30s, one run, one at a time, table, GET", o)
	}
	const limits = "connect 1 s (default), read 10 s (default), attempt none (default), pool none (default), budget 30 s (default), floor 1 ms (default)"
	if got := o.limits(); got != limits {
		t.Errorf("limits %q, want %q", got, limits)
	}
}

func TestMeasureFlags(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		ok   func(*measureOptions) bool
	}{
		{"limits", []string{"--connect-timeout", "300ms", "--read-timeout", "500ms", "--attempt-timeout", "2s", "--pool-timeout", "1s", "--budget", "3s", "--floor", "200ms"}, func(o *measureOptions) bool {
			return o.limits() == "connect 300 ms, read 500 ms, attempt 2 s, pool 1 s, budget 3 s, floor 200 ms"
		}},
		{"none", []string{"--connect-timeout", "none", "--budget", "none"}, func(o *measureOptions) bool {
			return o.config().Limits.Connect == budgetcaller.NoLimit && o.budget.D == budgetcaller.NoLimit
		}},
		{"counts", []string{"-n", "200", "-c", "100", "--interval", "5ms"}, func(o *measureOptions) bool {
			return o.runs == 200 && o.config().MaxConnsPerHost == 100 && o.interval.D == 5*time.Millisecond
		}},
		{"max-conns holds", []string{"-n", "200", "-c", "100", "--max-conns", "2"}, func(o *measureOptions) bool {
			return o.config().MaxConnsPerHost == 2
		}},
		{"headers", []string{"--header", "x-a:  1 ", "--header", "X-A: 2", "--header", "host: other"}, func(o *measureOptions) bool {
			return reflect.DeepEqual(o.request.header["X-A"], []string{"1", "2"}) && o.request.host == "other"
		}},
		{"data make a POST", []string{"--data", "a=1"}, func(o *measureOptions) bool {
			return o.request.method == "POST" && string(o.request.body) == "a=1"
		}},
		{"empty data are data", []string{"--data", ""}, func(o *measureOptions) bool {
			return o.request.method == "POST" && o.request.body != nil && len(o.request.body) == 0
		}},
		{"data with a method", []string{"--data", "a", "--method", "PUT"}, func(o *measureOptions) bool {
			return o.request.method == "PUT"
		}},
		{"data of a file", []string{"--data", "@" + file}, func(o *measureOptions) bool {
			return string(o.request.body) == "from a file"
		}},
		{"data of stdin", []string{"--data", "-"}, func(o *measureOptions) bool {
			return string(o.request.body) == "from stdin"
		}},
		{"expect", []string{"--expect", "ok, read_timeout"}, func(o *measureOptions) bool {
			return reflect.DeepEqual(o.expect, []budgetcaller.Class{budgetcaller.ClassOK, budgetcaller.ClassReadTimeout})
		}},
		{"follow", []string{"--follow"}, func(o *measureOptions) bool { return o.config().Redirects == 10 }},
		{"follow some", []string{"--follow=3"}, func(o *measureOptions) bool { return o.config().Redirects == 3 }},
		{"insecure", []string{"--insecure"}, func(o *measureOptions) bool { return o.config().TLS.InsecureSkipVerify }},
		{"no proxy", []string{"--proxy", "none"}, func(o *measureOptions) bool { return o.config().Proxy == nil }},
		{"proxy", []string{"--proxy", "http://127.0.0.1:3128"}, func(o *measureOptions) bool {
			u, err := o.config().Proxy(o.targets[0].url)
			return err == nil && u.Host == "127.0.0.1:3128" && !o.away
		}},
		{"proxy elsewhere", []string{"--proxy", "http://proxy.example:3128"}, func(o *measureOptions) bool { return o.away }},
		{"proxy of the environment", []string{"--proxy", "env"}, func(o *measureOptions) bool { return o.config().Proxy != nil && o.away }},
		{"partner", []string{"--partner", "http://127.0.0.1:8079/"}, func(o *measureOptions) bool { return o.partner == "http://127.0.0.1:8079" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, code, errs := parseArgs(t, "from stdin", append(c.args, "http://127.0.0.1:8080/")...)
			if code != 0 || !c.ok(o) {
				t.Errorf("%q: code %d, stderr %q, options %+v", c.args, code, errs, o)
			}
		})
	}
}

func TestMeasureRefusesUsage(t *testing.T) {
	t.Parallel()
	const local = "http://127.0.0.1:8080/"
	for _, c := range []struct {
		name string
		args []string
		line string // part of the one line
	}{
		{"nothing", nil, "caller demo"},
		{"no scheme", []string{"localhost:8080"}, "did you mean http://localhost:8080?"},
		{"scheme without slashes", []string{"http:127.0.0.1"}, "did you mean http://127.0.0.1?"},
		{"scheme with one slash", []string{"https:/127.0.0.1"}, "did you mean https://127.0.0.1?"},
		{"other scheme", []string{"ftp://127.0.0.1/"}, "only http and https"},
		{"no host", []string{"http:///x"}, "no host"},
		{"bad port", []string{"http://127.0.0.1:70000/"}, "port 70000"},
		{"port 0", []string{"http://127.0.0.1:0/"}, "port 0"},
		{"not a URL", []string{"http://[::1"}, "is not a URL"},
		{"control character", []string{"http://127.0.0.1/\x00"}, "is not a URL"},
		{"password", []string{"http://u:p@127.0.0.1/"}, "Authorization"},
		{"second URL bad", []string{local, ""}, "empty URL"},
		{"no runs", []string{local, "-n", "0"}, "-n 0: at least 1"},
		{"negative runs", []string{local, "-n", "-3"}, "-n -3: at least 1"},
		{"none at a time", []string{local, "-c", "0"}, "-c 0: at least 1"},
		{"not a number", []string{local, "-n", "many"}, `"many"`},
		{"runs beyond the cap", []string{local, "-n", "100001"}, "at most 100000 runs in all"},
		{"at a time beyond the cap", []string{local, "-c", "1001"}, "at most 1000"},
		{"runs elsewhere", []string{"http://example.com/", "-n", "301"}, "at most 300 runs in all"},
		{"runs over several URLs", []string{local, "http://example.com/", "-n", "151"}, "at most 300 runs in all"},
		{"at a time elsewhere", []string{"http://example.com/", "-c", "5"}, "at most 4"},
		{"away by redirect", []string{local, "-c", "5", "--follow"}, "at most 4"},
		{"no connections", []string{local, "--max-conns", "0"}, "--max-conns 0: at least 1"},
		{"empty expect", []string{local, "--expect", ""}, "--expect is empty"},
		{"empty partner", []string{local, "--partner", ""}, "--partner is empty"},
		{"empty partner alone", []string{"--partner", ""}, "--partner is empty"},
		{"empty method", []string{local, "--method", ""}, "--method is empty"},
		{"empty CA", []string{local, "--ca", ""}, "--ca is empty"},
		{"empty proxy", []string{local, "--proxy", ""}, "--proxy is empty"},
		{"negative max-conns", []string{local, "--max-conns", "-1"}, "--max-conns -1: at least 0"},
		{"follow too far", []string{local, "--follow=51"}, "at most 50"},
		{"header without colon", []string{local, "--header", "X"}, "Name: value"},
		{"header with a space", []string{local, "--header", "X : 1"}, "not a header name"},
		{"header with a line break", []string{local, "--header", "X: 1\r\nY: 2"}, "control character"},
		{"header of the connection", []string{local, "--header", "content-length: 3"}, "Content-Length is set by caller itself"},
		{"bad method", []string{local, "--method", "G T"}, "is not a method"},
		{"connect", []string{local, "--method", "CONNECT"}, "is not a method"},
		{"no such file", []string{local, "--data", "@/no/such/file"}, "--data: open /no/such/file"},
		{"unknown class", []string{local, "--expect", "ok,timeout"}, `no class "timeout"`},
		{"slip in a class", []string{local, "--expect", "refusd"}, "did you mean refused?"},
		{"class none", []string{local, "--expect", "none"}, `no class "none"`},
		{"bad format", []string{local, "--format", "xml"}, `"xml" is none of table, json, csv`},
		{"bad partner", []string{"--partner", "127.0.0.1:8079"}, "--partner: \"127.0.0.1:8079\" has no scheme"},
		{"bad proxy", []string{local, "--proxy", "proxy"}, "--proxy: "},
		{"partner through a proxy", []string{local, "--proxy", "env", "--partner", local}, "cannot be found"},
		{"no CA file", []string{local, "--ca", "/no/such/file"}, "--ca: open"},
		{"no certificate in it", []string{local, "--ca", "options_test.go"}, "holds no certificate"},
		{"insecure with a CA", []string{local, "--ca", "x", "--insecure"}, "choose"},
		{"no floor", []string{local, "--floor", "none"}, "--floor"},
		{"interval 0", []string{local, "--interval", "0"}, "--interval"},
		{"interval none", []string{local, "--interval", "none"}, "--interval"},
		{"unknown flag", []string{local, "--timeout", "1s"}, "unknown flag: --timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, code, errs := parseArgs(t, "", c.args...)
			if o != nil || code != cli.ExitUsage || !strings.Contains(errs, c.line) || strings.Count(errs, "\n") != 1 {
				t.Errorf("%q: ran %v, code %d, stderr %q; want code 2 and one line with %q", c.args, o != nil, code, errs, c.line)
			}
		})
	}
}

func TestC6DurationsThatBite(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--connect-timeout", "--read-timeout", "--attempt-timeout", "--pool-timeout", "--budget", "--floor"} {
		for _, value := range []string{"5", "-1s", "3000000h", "", "abc", "0", "0s"} {
			_, code, errs := parseArgs(t, "", "http://127.0.0.1:8080/", flag+"="+value)
			if code != cli.ExitUsage || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, flag) {
				t.Errorf("%s=%q: code %d, stderr %q; want code 2 and one line that names the flag", flag, value, code, errs)
			}
		}
		if o, code, errs := parseArgs(t, "", "http://127.0.0.1:8080/", flag+"=400us"); code != 0 || !strings.Contains(o.limits(), "0.4 ms") {
			t.Errorf("%s=400us: code %d, stderr %q; want a limit of 0.4 ms", flag, code, errs)
		}
	}
}

func TestDataIsBounded(t *testing.T) {
	t.Parallel()
	for length, ok := range map[int]bool{maxData: true, maxData + 1: false} {
		_, err := readData("-", strings.NewReader(strings.Repeat("x", length)))
		if (err == nil) != ok {
			t.Errorf("%d bytes of stdin: error %v, want taken %v", length, err, ok)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1:8080/", "https://[::1]:1/x?y#z", "localhost:80", "", "http://", "http://a:b@c/", "http://[::1%25lo]/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parseTarget(raw)
		if err != nil {
			return
		}
		req, err := request{method: "GET", header: http.Header{}}.to(context.Background(), got)
		if err != nil || req.URL.Host == "" {
			t.Errorf("parseTarget(%q) took what makes no request: %v", raw, err)
		}
		if _, err := parseTarget(got.String()); err != nil {
			t.Errorf("parseTarget(%q) = %q, which it refuses itself: %v", raw, got, err)
		}
	})
}

func FuzzParseHeader(f *testing.F) {
	for _, s := range []string{"A: b", "A:", ":b", "A b: c", "A: b\r\nC: d", "host: x", "Ä: b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		name, value, err := parseHeader(line)
		if err != nil {
			return
		}
		if strings.ContainsAny(name+value, "\r\n\x00") {
			t.Errorf("parseHeader(%q) = %q, %q: a line break got through", line, name, value)
		}
	})
}
