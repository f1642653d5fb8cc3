package budgetprom

import (
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/breaker"
)

// Other is the label of every dependency that was not named to New.
const Other = "other"

// metrics are what the hooks write to. All are safe for concurrent use.
type metrics struct {
	known []string

	attempts  *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	overshoot *prometheus.HistogramVec
	waits     *prometheus.HistogramVec
	skips     *prometheus.CounterVec
	changes   *prometheus.CounterVec
	state     *prometheus.GaugeVec
	standing  sync.Mutex // over the three values of a state
}

// New registers the metrics with reg and returns the hooks that fill them.
// Dependencies are the names that get labels of their own. Their breakers show as
// closed until they change, those of dependencies without one for ever. It fails if reg has
// metrics of these names already; then nothing stays registered.
func New(reg prometheus.Registerer, dependencies ...string) (budgetcaller.Hooks, error) {
	for _, name := range dependencies {
		if !utf8.ValidString(name) {
			return budgetcaller.Hooks{}, fmt.Errorf("budgetprom: dependency %q: a label is UTF-8", name)
		}
	}
	// From below a good answer on loopback to above the longest sensible limit.
	seconds := prometheus.ExponentialBuckets(0.0005, 2, 17)
	m := &metrics{
		known: slices.Clone(dependencies),
		attempts: counters("attempts_total", "Attempts that were made, by how they ended.",
			"dependency", "class", "limit", "effect"),
		duration: histograms("attempt_duration_seconds", "How long attempts took, by how they ended.",
			seconds, "dependency", "class"),
		overshoot: histograms("limit_overshoot_seconds", "How long after the end of the limit that fired an attempt was really over.",
			prometheus.ExponentialBuckets(0.0001, 2, 14), "dependency", "limit"),
		waits: histograms("retry_wait_seconds", "How long was waited before another attempt, by who asked for it.",
			seconds, "dependency", "reason"),
		skips: counters("skipped_total", "Attempts that were not made, by the class of the call that ended so.",
			"dependency", "class"),
		changes: counters("breaker_changes_total", "Changes of a breaker's state.",
			"dependency", "from", "to", "reason"),
		state: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Name: "breaker_state",
			Help: "State of the breaker: 1 for the one it is in, 0 for the others.",
		}, []string{"dependency", "state"}),
	}
	var done []prometheus.Collector
	for _, c := range []prometheus.Collector{m.attempts, m.duration, m.overshoot, m.waits, m.skips, m.changes, m.state} {
		if err := reg.Register(c); err != nil {
			for _, d := range done {
				reg.Unregister(d)
			}
			return budgetcaller.Hooks{}, fmt.Errorf("budgetprom: register: %w", err)
		}
		done = append(done, c)
	}
	for _, name := range m.known {
		m.stands(name, breaker.Closed.String())
	}
	return budgetcaller.Hooks{Attempt: m.attempt, Wait: m.wait, Skip: m.skip, Breaker: m.breaker}, nil
}

const namespace = "budgetcaller"

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

func (m *metrics) dependency(name string) string {
	if slices.Contains(m.known, name) {
		return name
	}
	return Other
}

func (m *metrics) attempt(e budgetcaller.AttemptEvent) {
	dep, r := m.dependency(e.Dependency), e.Record
	m.attempts.WithLabelValues(dep, r.Class.String(), r.Limit.String(), r.Effect.String()).Inc()
	m.duration.WithLabelValues(dep, r.Class.String()).Observe(r.Elapsed.Seconds())
	if r.Limit != budgetcaller.LimitNone && r.Limit != budgetcaller.LimitKernel {
		m.overshoot.WithLabelValues(dep, r.Limit.String()).Observe(r.Overshoot.Seconds())
	}
}

func (m *metrics) wait(e budgetcaller.WaitEvent) {
	reason := "backoff"
	if e.RetryAfter {
		reason = "retry_after"
	}
	m.waits.WithLabelValues(m.dependency(e.Dependency), reason).Observe(e.Delay.Seconds())
}

func (m *metrics) skip(e budgetcaller.SkipEvent) {
	m.skips.WithLabelValues(m.dependency(e.Dependency), e.Class.String()).Inc()
}

func (m *metrics) breaker(e budgetcaller.BreakerEvent) {
	dep := m.dependency(e.Dependency)
	m.changes.WithLabelValues(dep, e.From, e.To, e.Reason).Inc()
	m.stands(dep, e.To)
}

// stands shows that the breaker of dep is in the state of that name.
func (m *metrics) stands(dep, state string) {
	m.standing.Lock()
	defer m.standing.Unlock()
	for _, s := range []breaker.State{breaker.Closed, breaker.Open, breaker.HalfOpen} {
		value := 0.0
		if s.String() == state {
			value = 1
		}
		m.state.WithLabelValues(dep, s.String()).Set(value)
	}
}
