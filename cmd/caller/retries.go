package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"chaoslab/budgetcaller/backoff"
	"chaoslab/cmd/internal/cli"
)

// retries is what the flags say of attempts after the first.
type retries struct {
	attempts  int
	base, cap cli.Duration
	jitter    cli.Choice
	jitterSet bool

	policy backoff.Config
}

func newRetries() retries {
	return retries{
		attempts: 1,
		base:     cli.Duration{D: backoff.DefaultBase},
		cap:      cli.Duration{D: backoff.DefaultCap},
		jitter:   cli.Format(backoff.Full.String(), backoff.Equal.String(), backoff.None.String()),
	}
}

// any says whether a call may have more than one attempt.
func (r *retries) any() bool { return r.attempts > 1 }

// maxAttempts is the greatest value of --attempts, the library's own bound.
const maxAttempts = 100

func (r *retries) complete() error {
	switch {
	case r.attempts < 1 || r.attempts > maxAttempts:
		return fmt.Errorf("--attempts %d: from 1 to %d", r.attempts, maxAttempts)
	case !r.any() && (r.base.IsSet || r.cap.IsSet || r.jitterSet):
		return errors.New("--backoff, --cap and --jitter are about the wait before another attempt: write --attempts 3, too")
	}
	if err := r.policy.Jitter.UnmarshalText([]byte(r.jitter.Value)); err != nil {
		return fmt.Errorf("--jitter: %w", err)
	}
	r.policy.Base = r.base.D
	if r.cap.IsSet || r.base.D <= r.cap.D {
		r.policy.Cap = r.cap.D
	} else {
		r.cap.D = r.base.D // the default would be below it
	}
	if _, err := backoff.New(r.policy); err != nil {
		return fmt.Errorf("--backoff %v, --cap %v: %w", r.base.D, r.cap.D, err)
	}
	return nil
}

// inForce names what is in force, as measureOptions.limits does.
func (r *retries) inForce() []string {
	if !r.any() {
		return nil
	}
	parts := []string{fmt.Sprintf("attempts %d", r.attempts)}
	for _, p := range []struct {
		name, value string
		set         bool
	}{
		{"backoff", cli.ShowLimit(r.base.D), r.base.IsSet},
		{"cap", cli.ShowLimit(r.cap.D), r.cap.IsSet},
		{"jitter", r.jitter.Value, r.jitterSet},
	} {
		part := p.name + " " + p.value
		if !p.set {
			part += " (default)"
		}
		parts = append(parts, part)
	}
	return parts
}

// keyHeader is the name of the header that lets a partner know a repeat.
const keyHeader = "Idempotency-Key"

// keyAuto, as the value of --idempotency-key, makes a new key for each call.
const keyAuto = "auto"

// checkKey refuses a key that cannot be sent, or that is there already.
func checkKey(key string, header http.Header) error {
	switch {
	case strings.TrimSpace(key) == "" || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c >= 0x7f }):
		return fmt.Errorf("--idempotency-key %q: write printable ASCII, or %s for a new one for each call", key, keyAuto)
	case header.Get(keyHeader) != "":
		return errors.New("--idempotency-key with --header 'Idempotency-Key: ...': choose one")
	}
	return nil
}

// callKey returns the key of the next call, empty for none.
func (o *measureOptions) callKey() string {
	if o.key == keyAuto {
		return rand.Text()
	}
	return o.key
}
