package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/faults/admin"
	"chaoslab/labs/storm"
)

// A listener of a running partner is broken, counted and healed.
func TestStormAgainstARunningPartner(t *testing.T) {
	t.Parallel()
	var specs []faults.ListenerConfig
	for _, text := range []string{"ok", "slow:delay=30ms"} {
		spec, err := faults.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, faults.ListenerConfig{Faults: []faults.Spec{spec}})
	}
	partner, err := faults.Start(faults.Config{Listeners: specs})
	if err != nil {
		t.Fatal(err)
	}
	defer partner.Close(context.Background()) //nolint:errcheck // it ends with the process at the latest
	server, err := admin.Start(admin.Config{Partner: partner, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(context.Background()) //nolint:errcheck // the same

	const load = " --instances 2 --rate 10 --healthy 300ms --failure 300ms --recovery 300ms --attempt-timeout 5s --patience 20s --format json --failing status:status=429"
	var out, narration bytes.Buffer
	o := mustStorm(t, "--partner "+server.URL()+" --listener slow"+load)
	if err := runStorm(t.Context(), o, cli.Streams{Out: &out, Err: &narration}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"usual":"slow:delay=30ms","failing":"status:status=429"`, `"first":18,`, `"unaccounted":0,`, `"class":"status"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s\nwant %s in it", out.String(), want)
		}
	}
	if l := partner.Listeners()[1]; len(l.Faults) != 1 || l.Faults[0] != "slow:delay=30ms" || l.UntilMS != 0 {
		t.Errorf("the listener is left with %v until %v, want what it had", l.Faults, l.UntilMS)
	}
	for args, want := range map[string]string{
		"--partner " + server.URL() + load:                          "2 listeners: say which with --listener: ok, slow",
		"--partner " + server.URL() + " --listener fast" + load:     `no listener "fast": one of ok, slow`,
		"--partner http://partner.example:8079" + load:              "partner.example:8079 is not loopback: a storm hurts whoever it hits",
		"--partner " + partner.Listeners()[0].URL + load:            "is no partner's admin port",
		"--partner 127.0.0.1:8079" + load:                           "has no scheme",
		"--partner http://127.0.0.1:1 --listener slow" + load:       "no partner answers at",
		"--partner http://127.0.0.1:1 --failing overload:workers=0": "workers",
	} {
		o, err := stormArgs(t, args)
		if err == nil {
			err = runStorm(t.Context(), o, cli.Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("storm %s: got %v, want an error with %q", args, err, want)
		}
	}
}

func TestReadCounts(t *testing.T) {
	t.Parallel()
	const whole = `# HELP partner_requests_received_total Requests whose head was read.
partner_requests_received_total{listener="a"} 12
partner_requests_received_total{listener="b"} 1.5e+06
partner_effects_total{listener="b"} 3
partner_clients_left_total{listener="b"} 4
partner_orphaned_work_seconds_total{listener="b"} 0.25
partner_connections_open{listener="b"} 9
`
	want := storm.Counts{Received: 1_500_000, Effects: 3, ClientsLeft: 4, Orphaned: 250 * time.Millisecond}
	if got, err := readCounts(strings.NewReader(whole), "b"); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, c := range []struct{ text, listener string }{
		{whole, "a"},
		{whole, "c"},
		{"", "b"},
		{strings.ReplaceAll(whole, "0.25", "much"), "b"},
		{strings.ReplaceAll(whole, "0.25", "-1"), "b"},
		{strings.ReplaceAll(whole, "0.25", "NaN"), "b"},
	} {
		if got, err := readCounts(strings.NewReader(c.text), c.listener); err == nil {
			t.Errorf("counts of %s in %q: %+v, want an error", c.listener, c.text, got)
		}
	}
}

func FuzzReadCounts(f *testing.F) {
	f.Add("partner_requests_received_total{listener=\"b\"} 1\n", "b")
	f.Fuzz(func(_ *testing.T, text, listener string) {
		_, _ = readCounts(strings.NewReader(text), listener)
	})
}
