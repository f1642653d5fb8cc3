package deadline_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"chaoslab/budgetcaller/deadline"
)

const (
	ms   = time.Millisecond
	most = time.Second // the receiver's cap in the tests
	skew = time.Second
)

// arrival is a moment between two whole milliseconds, so that a value rounded
// the wrong way shows.
func arrival() time.Time { return time.UnixMilli(1_700_000_000_000).Add(400 * time.Microsecond) }

// moment is the absolute value of d after the arrival's whole millisecond.
func moment(d time.Duration) string {
	return strconv.FormatInt(arrival().UnixMilli()+d.Milliseconds(), 10)
}

func headers(timeout, moment []string) http.Header {
	h := http.Header{}
	if timeout != nil {
		h[deadline.HeaderTimeout] = timeout
	}
	if moment != nil {
		h[deadline.HeaderDeadline] = moment
	}
	return h
}

func one(s string) []string { return []string{s} }

// early is what the absolute value's rounding takes off.
const early = 400 * time.Microsecond

func TestAdopt(t *testing.T) {
	t.Parallel()
	const (
		absent, read, malformed = deadline.Absent, deadline.Read, deadline.Malformed
		doubled, absurd, skewed = deadline.Doubled, deadline.Absurd, deadline.Skewed
		byCap, byTimeout        = deadline.ByCap, deadline.ByTimeout
		byMoment                = deadline.ByMoment
	)
	v := func(by deadline.Source, timeout, moment deadline.Reading) deadline.Verdict {
		return deadline.Verdict{By: by, Timeout: timeout, Deadline: moment}
	}
	over := func(by deadline.Source, timeout, moment deadline.Reading) deadline.Verdict {
		return deadline.Verdict{By: by, Over: true, Timeout: timeout, Deadline: moment}
	}
	for _, c := range []struct {
		name            string
		timeout, moment []string
		want            time.Duration // after the arrival
		verdict         deadline.Verdict
	}{
		{"nothing", nil, nil, most, v(byCap, absent, absent)},

		{"relative", one("250"), nil, 250 * ms, v(byTimeout, read, absent)},
		{"relative of one", one("1"), nil, ms, v(byTimeout, read, absent)},
		{"relative beyond the cap", one("86400000"), nil, most, v(byCap, read, absent)},
		{"relative equal to the cap", one("1000"), nil, most, v(byTimeout, read, absent)},
		{"relative of a year", one("31622400000"), nil, most, v(byCap, read, absent)},
		{"relative beyond a year", one("31622400001"), nil, most, v(byCap, absurd, absent)},
		{"relative of 15 digits", one("999999999999999"), nil, most, v(byCap, absurd, absent)},
		{"relative zero", one("0"), nil, 0, over(byTimeout, read, absent)},
		{"relative negative", one("-5"), nil, 0, over(byTimeout, read, absent)},
		{"relative very negative", one("-999999999999999"), nil, 0, over(byTimeout, read, absent)},
		{"relative malformed", one("abc"), nil, most, v(byCap, malformed, absent)},
		{"relative doubled", []string{"250", "250"}, nil, most, v(byCap, doubled, absent)},

		{"absolute", nil, one(moment(250 * ms)), 250*ms - early, v(byMoment, absent, read)},
		{"absolute beyond the cap", nil, one(moment(time.Hour)), most, v(byCap, absent, read)},
		{"absolute in a year", nil, one(moment(deadline.MaxCap)), most, v(byCap, absent, read)},
		{"absolute beyond a year", nil, one(moment(deadline.MaxCap + ms)), most, v(byCap, absent, absurd)},
		{"absolute a year ago", nil, one(moment(-deadline.MaxCap + ms)), 0, over(byMoment, absent, read)},
		{"absolute before that", nil, one(moment(-deadline.MaxCap)), most, v(byCap, absent, absurd)},
		{"absolute in seconds", nil, one("1700000001"), most, v(byCap, absent, absurd)},
		{"absolute just past", nil, one(moment(0)), 0, over(byMoment, absent, read)},
		{"absolute just to come", nil, one(moment(ms)), ms - early, v(byMoment, absent, read)},
		{"absolute past", nil, one(moment(-time.Hour)), 0, over(byMoment, absent, read)},
		{"absolute zero", nil, one("0"), 0, over(byMoment, absent, read)},
		{"absolute negative", nil, one("-5"), 0, over(byMoment, absent, read)},
		{"absolute malformed", nil, one("soon"), most, v(byCap, absent, malformed)},
		{"absolute of 20 digits", nil, one("17000000002500000000"), most, v(byCap, absent, absurd)},
		{"absolute doubled", nil, []string{moment(ms), moment(ms)}, most, v(byCap, absent, doubled)},

		{"both agree", one("250"), one(moment(251 * ms)), 250 * ms, v(byTimeout, read, read)},
		{"absolute a little earlier", one("250"), one(moment(200 * ms)), 200*ms - early, v(byMoment, read, read)},
		{"absolute a little later", one("250"), one(moment(900 * ms)), 250 * ms, v(byTimeout, read, read)},
		{"absolute earlier, at the bound", one("900"), one(moment(-99 * ms)), 0, over(byMoment, read, read)},
		{"absolute earlier, beyond the bound", one("900"), one(moment(-100 * ms)), 900 * ms, v(byTimeout, read, skewed)},
		{"absolute later, at the bound", one("250"), one(moment(1250 * ms)), 250 * ms, v(byTimeout, read, read)},
		{"absolute later, beyond the bound", one("250"), one(moment(1251 * ms)), 250 * ms, v(byTimeout, read, skewed)},
		{"waited longer than it has", one("250"), one(moment(-100 * ms)), 0, over(byMoment, read, read)},
		{"a clock an hour ahead", one("250"), one(moment(-time.Hour)), 250 * ms, v(byTimeout, read, skewed)},
		{"a clock an hour behind", one("250"), one(moment(time.Hour)), 250 * ms, v(byTimeout, read, skewed)},
		{"both beyond the cap", one("5000"), one(moment(4500 * ms)), most, v(byCap, read, read)},
		{"only the relative beyond the cap", one("1500"), one(moment(800 * ms)), 800*ms - early, v(byMoment, read, read)},
		{"relative zero, absolute to come", one("0"), one(moment(250 * ms)), 0, over(byTimeout, read, read)},
		{"relative negative, absolute far to come", one("-5"), one(moment(time.Hour)), 0, over(byTimeout, read, skewed)},
		{"relative good, absolute zero", one("250"), one("0"), 250 * ms, v(byTimeout, read, skewed)},
		{"relative good, absolute negative", one("250"), one("-1700000000000"), 250 * ms, v(byTimeout, read, skewed)},
		{"both zero", one("0"), one("0"), 0, over(byTimeout, read, skewed)},

		{"relative malformed, absolute good", one("abc"), one(moment(250 * ms)), 250*ms - early, v(byMoment, malformed, read)},
		{"relative doubled, absolute good", []string{"1", "2"}, one(moment(250 * ms)), 250*ms - early, v(byMoment, doubled, read)},
		{"relative absurd, absolute past", one("31622400001"), one(moment(-ms)), 0, over(byMoment, absurd, read)},
		{"relative good, absolute malformed", one("250"), one("1e12"), 250 * ms, v(byTimeout, read, malformed)},
		{"relative good, absolute doubled", one("250"), []string{"1", "2"}, 250 * ms, v(byTimeout, read, doubled)},
		{"relative good, absolute absurd", one("250"), one("5"), 250 * ms, v(byTimeout, read, absurd)},
		{"both malformed", one(""), one(""), most, v(byCap, malformed, malformed)},
		{"both doubled", []string{"1", "1"}, []string{"1", "1"}, most, v(byCap, doubled, doubled)},
		{"malformed and absurd", one("x"), one("99999999999999999999"), most, v(byCap, malformed, absurd)},
	} {
		until, got := deadline.Adopt(headers(c.timeout, c.moment), arrival(), most, skew)
		if d := until.Sub(arrival()); d != c.want || got != c.verdict {
			t.Errorf("%s: Adopt(timeout %q, moment %q) = %v after the arrival, %+v, want %v, %+v",
				c.name, c.timeout, c.moment, d, got, c.want, c.verdict)
		}
	}
}

// Every pair of what either header can be is adopted by the one rule that is
// written in the documentation, here in its second form.
func TestAdoptAllPairs(t *testing.T) {
	t.Parallel()
	const none = time.Duration(-1 << 62)
	kinds := func(number func(time.Duration) string) map[string]struct {
		values []string
		d      time.Duration
	} {
		all := map[string]struct {
			values []string
			d      time.Duration
		}{
			"absent":    {nil, none},
			"malformed": {one("1e9"), none},
			"empty":     {one(""), none},
			"doubled":   {[]string{"9", "9"}, none},
			"absurd":    {one("99999999999999999999"), none},
		}
		for _, d := range []time.Duration{-2 * time.Hour, -900 * ms, -ms, ms, 100 * ms, 999 * ms, time.Second, 1900 * ms, time.Hour} {
			all[d.String()] = struct {
				values []string
				d      time.Duration
			}{one(number(d)), d}
		}
		return all
	}
	start := time.UnixMilli(1_700_000_000_000)
	relative := kinds(func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) })
	absolute := kinds(func(d time.Duration) string { return strconv.FormatInt(start.Add(d).UnixMilli(), 10) })
	for rname, r := range relative {
		for aname, a := range absolute {
			want := most
			switch {
			case r.d != none && a.d != none && (a.d-max(0, r.d)).Abs() <= skew:
				want = min(most, r.d, a.d)
			case r.d != none:
				want = min(most, r.d)
			case a.d != none:
				want = min(most, a.d)
			}
			want = max(0, want)
			until, v := deadline.Adopt(headers(r.values, a.values), start, most, skew)
			if got := until.Sub(start); got != want || v.Over != (want == 0) {
				t.Errorf("relative %s, absolute %s: got %v, %+v, want %v", rname, aname, got, v, want)
			}
		}
	}
}

// To the millisecond, where nothing is rounded.
func TestAdoptAtTheSkewBound(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_700_000_000_000)
	for _, c := range []struct {
		moment time.Duration // after the arrival; the relative value says 500 ms
		want   time.Duration
		by     deadline.Source
		read   deadline.Reading
	}{
		{399 * ms, 500 * ms, deadline.ByTimeout, deadline.Skewed},
		{400 * ms, 400 * ms, deadline.ByMoment, deadline.Read},
		{499 * ms, 499 * ms, deadline.ByMoment, deadline.Read},
		{500 * ms, 500 * ms, deadline.ByTimeout, deadline.Read},
		{501 * ms, 500 * ms, deadline.ByTimeout, deadline.Read},
		{600 * ms, 500 * ms, deadline.ByTimeout, deadline.Read},
		{601 * ms, 500 * ms, deadline.ByTimeout, deadline.Skewed},
	} {
		h := headers(one("500"), one(strconv.FormatInt(start.Add(c.moment).UnixMilli(), 10)))
		until, v := deadline.Adopt(h, start, most, 100*ms)
		if got := until.Sub(start); got != c.want || v.By != c.by || v.Deadline != c.read {
			t.Errorf("500 and a moment after %v, skew 100ms: got %v, %+v, want %v by %v, %v", c.moment, got, v, c.want, c.by, c.read)
		}
	}
}

func TestAdoptItsOwnSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		most, skew time.Duration
		want       time.Duration
		over       bool
	}{
		{"all by default", most, skew, 200*ms - early, false},
		{"nothing left of the cap", 0, skew, 0, true},
		{"a cap below zero", -time.Second, skew, 0, true},
		{"a cap of a year", deadline.MaxCap, skew, 200*ms - early, false},
		{"no skew is allowed", most, 0, 250 * ms, false},
		{"a skew below zero", most, -time.Second, 250 * ms, false},
	} {
		until, v := deadline.Adopt(headers(one("250"), one(moment(200*ms))), arrival(), c.most, c.skew)
		if got := until.Sub(arrival()); got != c.want || v.Over != c.over {
			t.Errorf("%s: cap %v, skew %v: got %v, %+v, want %v, over %v", c.name, c.most, c.skew, got, v, c.want, c.over)
		}
	}
}

// The deadline is kept by the monotonic clock, which nobody sets.
func TestAdoptKeepsTheMonotonicReading(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.Header{
		"nothing":  {},
		"relative": headers(one("250"), nil),
		"absolute": headers(nil, one(strconv.FormatInt(time.Now().Add(500*ms).UnixMilli(), 10))),
	} {
		if until, _ := deadline.Adopt(h, time.Now(), most, skew); until == until.Round(0) {
			t.Errorf("%s: %v has no monotonic reading", name, until)
		}
	}
}

func FuzzAdopt(f *testing.F) {
	for _, s := range []string{"250", "86400000", "0", "-5", "abc", "1e9", "", "12345678901234567890", "1700000000250"} {
		f.Add(s, s, uint8(1), uint8(1), int64(1_700_000_000_000), int64(time.Second))
		f.Add(s, "1700000000100", uint8(1), uint8(1), int64(0), int64(0))
		f.Add(s, s, uint8(2), uint8(0), int64(-1), int64(-1))
	}
	f.Fuzz(func(t *testing.T, timeout, moment string, timeouts, moments uint8, at, skew int64) {
		repeat := func(s string, n uint8) (values []string) {
			for range n % 4 {
				values = append(values, s)
			}
			return values
		}
		h := headers(repeat(timeout, timeouts), repeat(moment, moments))
		arrived := time.UnixMilli(at)
		until, v := deadline.Adopt(h, arrived, most, time.Duration(skew))
		if until.Before(arrived) || until.After(arrived.Add(most)) {
			t.Errorf("%v: %v after the arrival, want 0 to %v", h, until.Sub(arrived), most)
		}
		if v.Over != until.Equal(arrived) {
			t.Errorf("%v: over is %v, but %v is left", h, v.Over, until.Sub(arrived))
		}
		if v.Timeout != deadline.Read && v.Deadline != deadline.Read && (v.By != deadline.ByCap || v.Over) {
			t.Errorf("%v: nothing was read, but %+v", h, v)
		}
	})
}
