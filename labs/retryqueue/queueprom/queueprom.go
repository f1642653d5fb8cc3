// Package queueprom turns a retry queue into Prometheus metrics. It is a package
// of its own so that the queue itself does not need the client library.
//
//	m, err := queueprom.New(prometheus.DefaultRegisterer, store, clock)
//	queue, err := retryqueue.New(retryqueue.Config{Store: store, Observe: m.Observe, …})
//
// What the store holds is read from it when the metrics are: it is true for all
// workers, whoever is asked. What one process did (outcomes and how long sends
// took) is counted by Observe.
//
// It leaves out what a label could blow up: ids, addresses and error texts.
package queueprom

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chaoslab/labs/retryqueue"
)

const namespace = "retryqueue"

// statsWait bounds the reading of the store for one scrape.
const statsWait = 5 * time.Second

// Metrics are those of one queue. They are safe for concurrent use.
type Metrics struct {
	store retryqueue.Store
	clock func() retryqueue.Millis

	outcomes *prometheus.CounterVec
	took     *prometheus.HistogramVec

	jobs, dead, oldest, attempts, lost *prometheus.Desc
}

// New registers the metrics of store with reg. Clock is the queue's; nil: the
// system's. It fails if reg has metrics of these names already.
func New(reg prometheus.Registerer, store retryqueue.Store, clock func() retryqueue.Millis) (*Metrics, error) {
	if clock == nil {
		clock = func() retryqueue.Millis { return retryqueue.MillisOf(time.Now()) }
	}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	m := &Metrics{
		store: store, clock: clock,
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "outcomes_total", Help: "Steps of this process, by what became of the job.",
		}, []string{"outcome"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "send_duration_seconds", Help: "How long sends of this process took, by what became of the job.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 17),
		}, []string{"outcome"}),
		jobs:     desc("jobs", "Jobs in the store that are not dead, by state.", "state"),
		dead:     desc("dead_jobs", "Jobs in the store that were given up, by reason.", "reason"),
		oldest:   desc("oldest_pending_seconds", "Age of the oldest pending job, since it was added and since it is due.", "since"),
		attempts: desc("attempts_total", "Attempts claimed, by all workers ever."),
		lost:     desc("leases_lost_total", "Leases that ran out and were noticed, of all workers ever."),
	}
	for i, c := range []prometheus.Collector{m.outcomes, m.took, m} {
		if err := reg.Register(c); err != nil {
			for _, done := range []prometheus.Collector{m.outcomes, m.took}[:i] {
				reg.Unregister(done)
			}
			return nil, errors.Join(errors.New("queueprom: register"), err)
		}
	}
	return m, nil
}

// Observe counts one step. It is meant for retryqueue.Config.Observe.
func (m *Metrics) Observe(r retryqueue.Report) {
	if n := len(r.Ended); n > 0 {
		m.outcomes.WithLabelValues("ended").Add(float64(n))
	}
	if r.Outcome == retryqueue.Idle {
		return
	}
	m.outcomes.WithLabelValues(r.Outcome.String()).Inc()
	if r.Took > 0 {
		m.took.WithLabelValues(r.Outcome.String()).Observe(r.Took.Seconds())
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.jobs, m.dead, m.oldest, m.attempts, m.lost} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. A store that cannot be read makes the
// scrape fail, since old numbers would look like a calm queue.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsWait)
	defer cancel()
	s, err := m.store.Stats(ctx, m.clock())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(m.jobs, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, label string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, label)
	}
	gauge(m.jobs, float64(s.Pending), retryqueue.Pending.String())
	gauge(m.jobs, float64(s.Leased), retryqueue.Leased.String())
	gauge(m.jobs, float64(s.Done), retryqueue.Done.String())
	gauge(m.dead, float64(s.DeadDeadline), retryqueue.ReasonDeadline.String())
	gauge(m.dead, float64(s.DeadExhausted), retryqueue.ReasonExhausted.String())
	gauge(m.dead, float64(s.DeadPermanent), retryqueue.ReasonPermanent.String())
	gauge(m.oldest, s.Age().Seconds(), "added")
	gauge(m.oldest, s.Overdue().Seconds(), "due")
	ch <- prometheus.MustNewConstMetric(m.attempts, prometheus.CounterValue, float64(s.Attempts))
	ch <- prometheus.MustNewConstMetric(m.lost, prometheus.CounterValue, float64(s.LeasesLost))
}
