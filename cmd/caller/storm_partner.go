package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/faults/admin"
	"chaoslab/labs/storm"
)

// stormRun is a run, and what is known of the partner it was made against.
type stormRun struct {
	*storm.Report
	url            string  // that was called as it is; empty: a partner of its own
	usual, failing string  // its faults
	capacity       float64 // requests/s that it can do, 0 if that is not known
	flat           float64 // requests/s that this machine can do, 0 if that was not measured
}

// flatTime is how long it takes to find out what the machine can do.
const flatTime = time.Second

// one makes one run against its own partner or the one that the flags name.
func (o *stormOptions) one(ctx context.Context, cfg storm.Config, narration io.Writer) (stormRun, error) {
	switch {
	case o.partner != "":
		return o.remote(ctx, cfg, narration)
	case o.url != "":
		return o.bare(ctx, cfg, narration)
	}
	standard := storm.OwnFor(cfg)
	set := storm.OwnConfig{Healthy: or(o.usual, standard.Healthy), Failing: or(o.failing, standard.Failing)}
	own, err := storm.StartOwn(set)
	if err != nil {
		return stormRun{}, err
	}
	defer own.Close(context.WithoutCancel(ctx)) //nolint:errcheck // without a deadline it does not fail
	cfg.Partner = own
	report, err := storm.Run(ctx, cfg)
	if err != nil {
		return stormRun{}, err
	}
	r := stormRun{Report: report, usual: set.Healthy, failing: set.Failing}
	if o.usual == "" {
		r.capacity = storm.ShapeFor(cfg.Instances * cfg.Rate).Capacity()
	}
	if r.short() && ctx.Err() == nil {
		if r.flat, err = own.Flat(ctx, flatTime); err != nil && ctx.Err() == nil {
			return r, err
		}
	}
	return r, nil
}

// short says whether less arrived than the arithmetic has it although nothing
// but the machine held it back.
func (r stormRun) short() bool {
	const enough = 0.9
	return r.Config.Policy == storm.None && r.failing != "" && !r.Interrupted && r.Peak < enough*float64(r.Config.Load())
}

func or(text, standard string) string {
	if text == "" {
		return standard
	}
	return text
}

// checkFaults refuses what is no fault.
func checkFaults(usual, failing string) error {
	for _, f := range []struct{ flag, text string }{{"--usual", usual}, {"--failing", failing}} {
		if f.text == "" {
			continue
		}
		if _, err := faults.Parse(f.text); err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	return nil
}

// remotePartner is a listener of a running partner.
type remotePartner struct {
	admin    *admin.Client
	metrics  string // URL
	listener faults.Listener
	url      string // empty: the listener's
	failing  string // empty: nobody breaks it
	narrate  weatherman
	ttl      time.Duration // after it the partner heals by itself, should we be gone
}

// remote makes one run against a listener of a running partner.
func (o *stormOptions) remote(ctx context.Context, cfg storm.Config, narration io.Writer) (stormRun, error) {
	p := remotePartner{
		metrics: strings.TrimSuffix(o.partner, "/") + "/metrics", url: o.url, failing: o.failing, ttl: cfg.Failure + time.Minute,
		narrate: weatherman{narration, cfg},
	}
	if err := o.mayCall(o.partner); err != nil {
		return stormRun{}, err
	}
	var err error
	if p.admin, err = admin.NewClient(o.partner); err != nil {
		return stormRun{}, cli.Usagef("--partner: %w", err)
	}
	defer p.admin.Close()
	all, err := p.admin.Listeners(ctx)
	if err != nil {
		return stormRun{}, err
	}
	if p.listener, err = o.choose(all); err != nil {
		return stormRun{}, err
	}
	if err := o.mayCall(p.listener.URL); err != nil {
		return stormRun{}, err
	}
	cfg.Partner = p
	report, err := storm.Run(ctx, cfg)
	if err != nil {
		return stormRun{}, err
	}
	return stormRun{Report: report, url: o.url, usual: or(strings.Join(p.listener.Faults, " + "), "ok"), failing: p.failing}, nil
}

// mayCall refuses what is not on this machine unless it is allowed.
func (o *stormOptions) mayCall(raw string) error {
	t, err := parseTarget(raw)
	if err != nil {
		return cli.Usagef("--partner: %w", err)
	}
	if !loopback(t.url) && !o.allowRemote {
		return cli.Usagef("%s", notLoopback(t.url.Host))
	}
	return nil
}

func (o *stormOptions) choose(all []faults.Listener) (faults.Listener, error) {
	if o.url != "" {
		return o.chooseByURL(all)
	}
	var names []string
	for _, l := range all {
		if l.Name == o.listener || o.listener == "" && len(all) == 1 {
			return l, nil
		}
		names = append(names, l.Name)
	}
	if o.listener == "" {
		return faults.Listener{}, cli.Usagef("the partner has %d listeners: say which with --listener: %s", len(all), strings.Join(names, ", "))
	}
	return faults.Listener{}, cli.Usagef("the partner has no listener %q: one of %s", o.listener, strings.Join(names, ", "))
}

// URL implements storm.Partner.
func (p remotePartner) URL() string { return or(p.url, p.listener.URL) }

// Set implements storm.Partner.
func (p remotePartner) Set(ctx context.Context, failing bool) error {
	if p.failing == "" {
		p.narrate.tell(failing)
		return nil
	}
	specs, ttl := p.listener.Faults, time.Duration(0)
	if failing {
		specs, ttl = []string{p.failing}, p.ttl
	}
	_, err := p.admin.Set(ctx, p.listener.Name, specs, ttl)
	return err
}

// Counts implements storm.Partner. They are in the partner's metrics.
func (p remotePartner) Counts(ctx context.Context) (storm.Counts, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metrics, nil)
	if err != nil {
		return storm.Counts{}, err
	}
	// A proxy of the environment would not know our loopback.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return storm.Counts{}, fmt.Errorf("metrics of the partner: %w", err)
	}
	defer resp.Body.Close()
	const most = 4 << 20
	return readCounts(io.LimitReader(resp.Body, most), p.listener.Name)
}

// readCounts finds the counts of a listener in a partner's metrics.
func readCounts(r io.Reader, listener string) (storm.Counts, error) {
	var c storm.Counts
	var found int
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), fmt.Sprintf("{listener=%q} ", listener))
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v < 1<<53) { // false for NaN, too
			return c, fmt.Errorf("metrics of the partner: %s is %q", name, value)
		}
		found++
		switch name {
		case "partner_requests_received_total":
			c.Received = uint64(v)
		case "partner_effects_total":
			c.Effects = uint64(v)
		case "partner_clients_left_total":
			c.ClientsLeft = uint64(v)
		case "partner_orphaned_work_seconds_total":
			c.Orphaned = time.Duration(v * float64(time.Second))
		default:
			found--
		}
	}
	if err := lines.Err(); err != nil {
		return c, fmt.Errorf("metrics of the partner: %w", err)
	}
	if found != 4 {
		return c, fmt.Errorf("metrics of the partner: they do not tell of listener %s", listener)
	}
	return c, nil
}
