package faults

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

// Shape is a delay or a distribution of delays. It is written as one of
//
//	300ms
//	uniform(100ms,500ms)
//	normal(300ms,50ms)              mean and standard deviation
//	lognormal(p50=100ms,p99=1s)     the usual shape of latencies
//	list(90:100ms,10:2s)            weight:delay, weights are relative
//
// What normal would draw below zero is zero, and no draw is above MaxDelay. The
// zero value is no delay. A Shape is immutable.
type Shape struct {
	kind    string // empty: fixed
	a, b    float64
	list    []weighted
	text    string
	highest time.Duration
}

type weighted struct {
	upTo  float64 // cumulative share, the last is 1
	delay time.Duration
}

// Fixed returns the shape that is always d.
func Fixed(d time.Duration) Shape { return Shape{a: float64(d), text: short(d), highest: d} }

// String returns the shape as it is written.
func (s Shape) String() string {
	if s.text == "" {
		return "0s"
	}
	return s.text
}

// Random says whether two draws may differ.
func (s Shape) Random() bool { return s.kind != "" }

// Draw returns one delay, taking all chance from r. r may be nil if the shape
// is not Random.
func (s Shape) Draw(r *rand.Rand) time.Duration {
	var v float64
	switch s.kind {
	case "":
		return time.Duration(s.a)
	case "uniform":
		v = s.a + r.Float64()*(s.b-s.a)
	case "normal":
		v = s.a + r.NormFloat64()*s.b
	case "lognormal":
		v = math.Exp(s.a + r.NormFloat64()*s.b)
	case "list":
		u := r.Float64()
		for _, w := range s.list {
			if u < w.upTo {
				return w.delay
			}
		}
		return s.list[len(s.list)-1].delay
	}
	return time.Duration(min(max(v, 0), float64(s.highest)))
}

// shapes tells how shapes are written that are no fixed delay.
const shapes = "uniform(a,b), normal(mean,sd), lognormal(p50=a,p99=b), list(weight:a,…)"

// ParseShape reads a shape with delays from 0 to MaxDelay.
func ParseShape(text string) (Shape, error) { return parseShape(text, 0, MaxDelay) }

func parseShape(text string, low, high time.Duration) (Shape, error) {
	name, rest, isCall := strings.Cut(text, "(")
	if !isCall {
		d, err := parseDuration(text, low, high)
		if err != nil {
			return Shape{}, fmt.Errorf("%w, or %s", err, shapes)
		}
		return Fixed(d), nil
	}
	inner, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return Shape{}, fmt.Errorf("%q lacks its closing parenthesis", text)
	}
	fields := strings.Split(inner, ",")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	s := Shape{kind: name, text: name + "(" + strings.Join(fields, ",") + ")", highest: high}
	var err error
	switch name {
	case "uniform":
		err = s.two(fields, "", "", low, high)
		if err == nil && s.a > s.b {
			err = fmt.Errorf("%s is above %s", fields[0], fields[1])
		}
	case "normal":
		err = s.two(fields, "", "", 0, high)
	case "lognormal":
		err = s.two(fields, "p50=", "p99=", max(low, 1), high)
		if err == nil && s.a > s.b {
			err = fmt.Errorf("p50 is above p99")
		}
		s.a, s.b = math.Log(s.a), (math.Log(s.b)-math.Log(s.a))/z99
	case "list":
		err = s.weights(fields, low, high)
	default:
		err = fmt.Errorf("no such shape: uniform, normal, lognormal or list")
	}
	if err != nil {
		return Shape{}, fmt.Errorf("%s: %w", text, err)
	}
	return s, nil
}

// two reads the shape's two durations, each behind its prefix.
func (s *Shape) two(fields []string, first, second string, low, high time.Duration) error {
	if len(fields) != 2 || !strings.HasPrefix(fields[0], first) || !strings.HasPrefix(fields[1], second) {
		return fmt.Errorf("write %s(%sa,%sb) with two durations", s.kind, first, second)
	}
	a, err := parseDuration(strings.TrimPrefix(fields[0], first), low, high)
	if err != nil {
		return err
	}
	b, err := parseDuration(strings.TrimPrefix(fields[1], second), low, high)
	if err != nil {
		return err
	}
	s.a, s.b = float64(a), float64(b)
	return nil
}

// maxWeights bounds a weighted list: it is gone through at every draw.
const maxWeights = 100

func (s *Shape) weights(fields []string, low, high time.Duration) error {
	if len(fields) > maxWeights {
		return fmt.Errorf("more than %d entries", maxWeights)
	}
	var sum float64
	for _, f := range fields {
		weight, delay, ok := strings.Cut(f, ":")
		w, err := strconv.ParseFloat(weight, 64)
		if !ok || err != nil || !(w > 0) || w > 1e9 {
			return fmt.Errorf("%q: write weight:delay with a weight above 0", f)
		}
		d, err := parseDuration(delay, low, high)
		if err != nil {
			return err
		}
		sum += w
		s.list = append(s.list, weighted{sum, d})
	}
	for i := range s.list {
		s.list[i].upTo /= sum
	}
	return nil
}
