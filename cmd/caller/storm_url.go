package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/labs/storm"
)

// checkURL refuses a URL that cannot be called, or must not.
func (o *stormOptions) checkURL() error {
	if o.url == "" {
		return nil
	}
	t, err := parseTarget(o.url)
	switch {
	case err != nil:
		return err
	case t.url.Scheme != "http":
		return fmt.Errorf("%s: a storm speaks http alone, without TLS", o.url)
	case !loopback(t.url) && !o.allowRemote:
		return errors.New(notLoopback(t.url.Host))
	}
	o.url = t.String()
	return nil
}

func notLoopback(host string) string {
	return host + " is not loopback: a storm hurts whoever it hits; if what is there is yours to break, say --allow-remote"
}

// bare makes one run against what is at the URL, of which nothing else is known.
func (o *stormOptions) bare(ctx context.Context, cfg storm.Config, narration io.Writer) (stormRun, error) {
	if err := isThere(ctx, o.url); err != nil {
		return stormRun{}, err
	}
	cfg.Partner = barePartner{o.url, weatherman{narration, cfg}}
	report, err := storm.Run(ctx, cfg)
	if err != nil {
		return stormRun{}, err
	}
	return stormRun{Report: report, url: o.url}, nil
}

// isThere returns an error if nobody listens at the URL. Who does not answer may
// be there.
func isThere(ctx context.Context, raw string) error {
	t, err := parseTarget(raw)
	if err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(t.url.Hostname(), port(t.url)))
	var lookup *net.DNSError
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nobody listens at %s: start what is to be called first, or leave out the URL", t.url.Host)
	case errors.As(err, &lookup):
		return fmt.Errorf("%s: there is no such name", t.url.Hostname())
	}
	return nil
}

// barePartner is what is at a URL. Nobody can break it from here, nor tell what
// happened to it.
type barePartner struct {
	url     string
	weather weatherman
}

// URL implements storm.Partner.
func (p barePartner) URL() string { return p.url }

// Set implements storm.Partner.
func (p barePartner) Set(_ context.Context, failing bool) error {
	p.weather.tell(failing)
	return nil
}

// Counts implements storm.Partner.
func (p barePartner) Counts(context.Context) (storm.Counts, error) {
	return storm.Counts{}, storm.ErrUncounted
}

// weatherman says when what nobody breaks from here is due to fail, so that
// somebody else can do it.
type weatherman struct {
	w   io.Writer
	cfg storm.Config
}

func (m weatherman) tell(failing bool) {
	if failing {
		fmt.Fprintf(m.w, "storm: the failure is due now, for %s\n", cli.ShowLimit(m.cfg.Failure))
		return
	}
	fmt.Fprintln(m.w, "storm: the failure is over now")
}

// chooseByURL finds the listener that a call to the URL reaches.
func (o *stormOptions) chooseByURL(all []faults.Listener) (faults.Listener, error) {
	wanted, err := parseTarget(o.url)
	if err != nil {
		return faults.Listener{}, err
	}
	var urls []string
	for _, l := range all {
		have, err := parseTarget(l.URL)
		if err == nil && port(have.url) == port(wanted.url) && (have.url.Hostname() == wanted.url.Hostname() || loopback(have.url) && loopback(wanted.url)) {
			return l, nil
		}
		urls = append(urls, l.URL)
	}
	return faults.Listener{}, cli.Usagef("the partner does not listen at %s: at %s", wanted.url.Host, strings.Join(urls, ", "))
}
