package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"chaoslab/faults"
)

// collector makes metrics of a partner's counts when it is asked: requests pay
// for nothing but a counter. No label can be chosen by a client.
type collector struct {
	partner *faults.Partner
}

// metric describes one metric of a listener.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(faults.Stats) float64
}

func listenerMetrics() []metric {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	return []metric{
		{"partner_connections_accepted_total", "Connections accepted.", counter, func(s faults.Stats) float64 { return float64(s.Accepted) }},
		{"partner_connections_open", "Connections open now.", gauge, func(s faults.Stats) float64 { return float64(s.Open) }},
		{"partner_connections_hung", "Connections held without an answer now.", gauge, func(s faults.Stats) float64 { return float64(s.Hung) }},
		{"partner_requests_received_total", "Requests whose head was read, or that were refused as bad.", counter, func(s faults.Stats) float64 { return float64(s.Received) }},
		{"partner_effects_total", "Effects that took place.", counter, func(s faults.Stats) float64 { return float64(s.Processed) }},
		{"partner_duplicates_total", "Requests whose Idempotency-Key had had its effect before.", counter, func(s faults.Stats) float64 { return float64(s.Duplicates) }},
		{"partner_clients_left_total", "Clients that left before their request had ended.", counter, func(s faults.Stats) float64 { return float64(s.ClientsLeft) }},
		{"partner_orphaned_work_seconds_total", "Work done after the client had left.", counter, func(s faults.Stats) float64 { return s.Orphaned.Seconds() }},
	}
}

func listenerDesc(m metric) *prometheus.Desc {
	return prometheus.NewDesc(m.name, m.help, []string{"listener"}, nil)
}

func requestsDesc() *prometheus.Desc {
	return prometheus.NewDesc("partner_requests_total", "Requests that are over, orphaned work too, and connections that a fault hit before any request or that were too many, by fault and by how they ended.",
		[]string{"listener", "mode", "outcome"}, nil)
}

func askedDesc() *prometheus.Desc {
	return prometheus.NewDesc("partner_delay_asked_seconds", "Delays that were asked for.", []string{"listener"}, nil)
}

func overshootDesc() *prometheus.Desc {
	return prometheus.NewDesc("partner_delay_overshoot_seconds", "Delay delivered less delay asked.", []string{"listener"}, nil)
}

func droppedDesc() *prometheus.Desc {
	return prometheus.NewDesc("partner_ledger_dropped_entries_total", "Ledger entries that fell out to make room.", nil, nil)
}

func missedDesc() *prometheus.Desc {
	return prometheus.NewDesc("partner_ledger_missed_entries_total", "Ledger entries that a stream or the file was too slow for.", nil, nil)
}

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range listenerMetrics() {
		ch <- listenerDesc(m)
	}
	ch <- requestsDesc()
	ch <- askedDesc()
	ch <- overshootDesc()
	ch <- droppedDesc()
	ch <- missedDesc()
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.partner.Stats() {
		for _, m := range listenerMetrics() {
			ch <- prometheus.MustNewConstMetric(listenerDesc(m), m.kind, m.value(s), s.Listener)
		}
		for _, o := range s.Outcomes {
			ch <- prometheus.MustNewConstMetric(requestsDesc(), prometheus.CounterValue, float64(o.Count), s.Listener, o.Mode, o.Outcome)
		}
		ch <- prometheus.MustNewConstHistogram(askedDesc(), s.Asked.Count, s.Asked.Sum, s.Asked.Buckets, s.Listener)
		ch <- prometheus.MustNewConstHistogram(overshootDesc(), s.Overshoot.Count, s.Overshoot.Sum, s.Overshoot.Buckets, s.Listener)
	}
	ch <- prometheus.MustNewConstMetric(droppedDesc(), prometheus.CounterValue, float64(c.partner.Ledger().Dropped()))
	ch <- prometheus.MustNewConstMetric(missedDesc(), prometheus.CounterValue, float64(c.partner.Ledger().Missed()))
}
