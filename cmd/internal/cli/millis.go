package cli

import (
	"strconv"
	"time"
)

// Millis is a duration that JSON shows as a number of milliseconds, with three
// digits behind the point at most: what is finer than a microsecond is noise.
type Millis time.Duration

// String returns the number as JSON shows it. No locale ever shows in it.
func (m Millis) String() string {
	rounded := time.Duration(m).Round(time.Microsecond)
	return strconv.FormatFloat(float64(rounded)/float64(time.Millisecond), 'f', -1, 64)
}

// MarshalJSON implements json.Marshaler.
func (m Millis) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON implements json.Unmarshaler; null leaves m as it is.
func (m *Millis) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	ms, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return err
	}
	*m = Millis(ms * float64(time.Millisecond))
	return nil
}

// Show returns d for a table, in at most nine characters up to three days: in
// milliseconds with one digit behind the point, from ten seconds on in seconds.
func Show(d time.Duration) string {
	if d > -10*time.Second && d < 10*time.Second {
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
}

// ShowLimit returns a limit or a budget for a table: as Show does but without a
// fraction where there is none, and none for None.
func ShowLimit(d time.Duration) string {
	switch {
	case d == None:
		return "none"
	case d >= time.Second && d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	case d < 10*time.Second && d%time.Millisecond == 0:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + " ms"
	}
	return Show(d)
}
