package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// measureOptions is what the flags of measure say. complete fills the second
// half from the first.
type measureOptions struct {
	urls                                 []string
	connect, read, attempt, pool, budget cli.Duration
	floor                                cli.Duration
	retries                              retries
	key                                  string // of --idempotency-key
	keySet                               bool
	runs, parallel                       int
	interval                             cli.Duration
	method                               string
	headers                              []string
	data                                 string
	dataSet                              bool // an empty body was asked for, not none
	format                               cli.Choice
	expectList                           string
	partner                              string
	maxConns, follow                     int
	proxyWord                            string
	caFile                               string
	insecure                             bool

	targets []target
	request request
	expect  []budgetcaller.Class
	proxy   func(*url.URL) (*url.URL, error)
	away    bool // redirects or a proxy may lead off the targets
	tls     *tls.Config
}

// complete checks what the flags say and fills in what follows from it. Every
// error is one of usage.
func (o *measureOptions) complete(stdin io.Reader) error {
	for _, step := range []func() error{
		o.completeTargets,
		o.completeCounts,
		func() (err error) {
			var data *string
			if o.dataSet {
				data = &o.data
			}
			o.request, err = parseRequest(o.method, o.headers, data, stdin)
			return err
		},
		o.completeRetries,
		func() (err error) { o.expect, err = parseExpect(o.expectList); return err },
		o.completeProxy,
		o.completeTLS,
	} {
		if err := step(); err != nil {
			return cli.Usagef("%w", err)
		}
	}
	if len(o.targets) == 0 {
		return nil // the partner's listeners, checked once they are known
	}
	return o.checkCaps()
}

// checkCaps refuses more than the targets may be given.
func (o *measureOptions) checkCaps() error {
	return checkCaps(o.targets, o.runs, o.retries.attempts, o.parallel, o.away)
}

func (o *measureOptions) completeRetries() error {
	if err := o.retries.complete(); err != nil || !o.keySet {
		return err
	}
	return checkKey(o.key, o.request.header)
}

func (o *measureOptions) completeTargets() error {
	if len(o.urls) == 0 && o.partner == "" {
		return errors.New("nothing to measure: write a URL, as in: caller measure http://127.0.0.1:8080/ (partner --mode slow answers there), or start with: caller demo")
	}
	for _, raw := range o.urls {
		t, err := parseTarget(raw)
		if err != nil {
			return err
		}
		o.targets = append(o.targets, t)
	}
	if o.partner == "" {
		return nil
	}
	admin, err := parseTarget(o.partner)
	if err != nil {
		return fmt.Errorf("--partner: %w", err)
	}
	o.partner = strings.TrimRight(admin.String(), "/")
	return nil
}

func (o *measureOptions) completeCounts() error {
	for _, n := range []struct {
		flag         string
		value, least int
	}{{"-n", o.runs, 1}, {"-c", o.parallel, 1}, {"--max-conns", o.maxConns, 0}, {"--follow", o.follow, 0}} {
		if n.value < n.least {
			return fmt.Errorf("%s %d: at least %d", n.flag, n.value, n.least)
		}
	}
	const maxFollow, maxConns = 50, 10_000
	switch {
	case o.follow > maxFollow:
		return fmt.Errorf("--follow=%d: at most %d", o.follow, maxFollow)
	case o.maxConns > maxConns:
		return fmt.Errorf("--max-conns %d: at most %d", o.maxConns, maxConns)
	}
	o.away = o.follow > 0
	return nil
}

func (o *measureOptions) completeProxy() error {
	switch o.proxyWord {
	case "", "none":
		return nil
	case "env":
		o.proxy = func(target *url.URL) (*url.URL, error) {
			return http.ProxyFromEnvironment(&http.Request{URL: target})
		}
		o.away = true
	default:
		t, err := parseTarget(o.proxyWord)
		if err != nil {
			return fmt.Errorf("--proxy: %w", err)
		}
		o.proxy = func(*url.URL) (*url.URL, error) { return t.url, nil }
		o.away = o.away || !loopback(t.url)
	}
	if o.partner != "" {
		return errors.New("--partner with --proxy: a partner sees the proxy's connections, not ours, so its record cannot be found")
	}
	return nil
}

func (o *measureOptions) completeTLS() error {
	switch {
	case o.insecure && o.caFile != "":
		return errors.New("--insecure with --ca: one accepts any certificate, the other only those of the file; choose")
	case o.insecure:
		o.tls = &tls.Config{InsecureSkipVerify: true} // asked for in so many words
	case o.caFile != "":
		pem, err := os.ReadFile(o.caFile)
		if err != nil {
			return fmt.Errorf("--ca: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return fmt.Errorf("--ca: %s holds no certificate in PEM form", o.caFile)
		}
		o.tls = &tls.Config{RootCAs: roots}
	}
	return nil
}

// parseExpect reads the list of --expect. An empty one expects nothing.
func parseExpect(list string) ([]budgetcaller.Class, error) {
	if list == "" {
		return nil, nil
	}
	var classes []budgetcaller.Class
	for word := range strings.SplitSeq(list, ",") {
		c, err := parseClass(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("--expect: %w", err)
		}
		classes = append(classes, c)
	}
	return classes, nil
}

// parseClass returns the class of that name. The error says which one may have
// been meant and lists them all.
func parseClass(word string) (budgetcaller.Class, error) {
	var words []string
	for _, info := range budgetcaller.Classes() {
		words = append(words, info.Class.String())
	}
	if c, err := budgetcaller.ParseClass(word); err == nil && slices.Contains(words, word) {
		return c, nil
	}
	hint := ""
	if near := cli.Nearest(word, words); near != "" {
		hint = " did you mean " + near + "?"
	}
	return 0, fmt.Errorf("no class %q:%s the classes are %s", word, hint, strings.Join(words, ", "))
}

// config returns the engine's settings.
func (o *measureOptions) config() budgetcaller.Config {
	conns := o.maxConns
	if conns == 0 && o.parallel > 64 {
		conns = o.parallel // else runs would wait for each other unasked
	}
	cfg := budgetcaller.Config{
		Limits: budgetcaller.Limits{
			Connect: o.connect.D,
			Read:    o.read.D,
			Attempt: o.attempt.D,
			Pool:    o.pool.D,
			Floor:   o.floor.D,
		},
		MaxConnsPerHost: conns,
		TLS:             o.tls,
		Proxy:           o.proxy,
		Redirects:       o.follow,
	}
	if o.retries.any() {
		cfg.Default.Retry = budgetcaller.Retry{Attempts: o.retries.attempts, Backoff: o.retries.policy}
	}
	return cfg
}

// limits names every limit as it is in force, with "(default)" beside what
// nobody asked for.
func (o *measureOptions) limits() string {
	var parts []string
	for _, l := range []struct {
		name string
		d    cli.Duration
	}{{"connect", o.connect}, {"read", o.read}, {"attempt", o.attempt}, {"pool", o.pool}, {"budget", o.budget}, {"floor", o.floor}} {
		part := l.name + " " + cli.ShowLimit(l.d.D)
		if !l.d.IsSet {
			part += " (default)"
		}
		parts = append(parts, part)
	}
	return strings.Join(append(parts, o.retries.inForce()...), ", ")
}
