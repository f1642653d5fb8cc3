package httpsend

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"chaoslab/budgetcaller"
)

// Verdict is what an outcome means for the job. The zero value is Unclassified.
type Verdict uint8

// The verdicts.
const (
	Unclassified Verdict = iota // neither: the job stays leased until its lease ends
	Done                        // the receiver accepted it
	Retry                       // worth another attempt
	Permanent                   // no further attempt can mend it
)

func verdictNames() []string { return []string{"unclassified", "done", "retry", "permanent"} }

// String returns the word used in tables and JSON.
func (v Verdict) String() string {
	if names := verdictNames(); int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames(), string(text))
	if i < 0 {
		return fmt.Errorf("unknown verdict %q: unclassified, done, retry or permanent", text)
	}
	*v = Verdict(i)
	return nil
}

// Table says what each outcome means for the job. Keys are the words of
// budgetcaller's classes; "status 503" for one status and "status 4xx" for a
// hundred of them, which stand before "status" and, for 3xx, before "ok"; and
// "lookup_failed not_found" for a name that does not exist. What is not in the
// table is Unclassified. A Table must not be changed while it is used.
type Table map[string]Verdict

// DefaultTable returns the table that holds unless the user replaces it. Since
// every attempt carries the job's id as its Idempotency-Key, an unknown effect is
// no reason not to try again. What is our own or the operator's to mend (TLS, a
// name that does not exist, an answer that is not HTTP, an unexpected status) is
// unclassified, so that no job is given up for it. The map is the caller's own.
func DefaultTable() Table {
	return Table{
		"ok":                      Done,
		"status 3xx":              Unclassified,
		"status 4xx":              Permanent,
		"status 429":              Retry,
		"status 502":              Retry,
		"status 503":              Retry,
		"status 504":              Retry,
		"refused":                 Retry,
		"unreachable":             Retry,
		"lookup_failed":           Retry,
		"lookup_failed not_found": Unclassified,
		"connect_timeout":         Retry,
		"tls_timeout":             Retry,
		"pool_timeout":            Retry,
		"request_timeout":         Retry,
		"read_timeout":            Retry,
		"attempt_timeout":         Retry,
		"closed":                  Retry,
		"reset":                   Retry,
		"truncated":               Retry,
		"budget_exhausted":        Retry,
		"below_floor":             Retry,
		"breaker_open":            Retry,
	}
}

// Check returns an error that names the first key that is none.
func (t Table) Check() error {
	for key := range t {
		if !known(key) {
			return fmt.Errorf("unknown outcome %q: a class (see caller explain), \"status 503\", \"status 4xx\" or \"lookup_failed not_found\"", key)
		}
	}
	return nil
}

func known(key string) bool {
	if key == "lookup_failed not_found" {
		return true
	}
	var code string
	if n, _ := fmt.Sscanf(key, "status %3s", &code); n == 1 && key == "status "+code {
		if n, err := strconv.Atoi(code); err == nil {
			return n >= 100 && n <= 599
		}
		return len(code) == 3 && code[0] >= '1' && code[0] <= '5' && code[1:] == "xx"
	}
	_, err := budgetcaller.ParseClass(key)
	return err == nil
}

// verdict looks an attempt up: the most exact key first.
func (t Table) verdict(r budgetcaller.Record) Verdict {
	var keys []string
	switch r.Class {
	case budgetcaller.ClassOK, budgetcaller.ClassStatus:
		keys = []string{fmt.Sprintf("status %d", r.Status), fmt.Sprintf("status %dxx", r.Status/100)}
	case budgetcaller.ClassLookupFailed:
		if dns := (*net.DNSError)(nil); errors.As(r.Err, &dns) && dns.IsNotFound {
			keys = []string{"lookup_failed not_found"}
		}
	}
	for _, key := range append(keys, r.Class.String()) {
		if v, ok := t[key]; ok {
			return v
		}
	}
	return Unclassified
}
