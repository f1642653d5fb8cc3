package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"chaoslab/internal/jsonobject"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
)

// maxJobLine is the longest line that add reads: a payload in base64 and the
// rest of a job.
const maxJobLine = 2 * retryqueue.MaxPayload

// addDefaults are what the flags of add say for jobs that do not.
type addDefaults struct {
	within   int64 // ms from now to the deadline
	attempts int
}

// parseJobLine reads one job, as add takes it from stdin. A key that is unknown
// is an error, and so are a number that is no integer and whatever decoding would
// change without a word (see httpsend.CheckJSON).
func parseJobLine(line []byte, d addDefaults, now retryqueue.Millis) (readJob, error) {
	job := readJob{NewJob: retryqueue.NewJob{MaxAttempts: d.attempts, Deadline: now + retryqueue.Millis(d.within)}}
	if err := httpsend.CheckJSON(line); err != nil {
		return job, err
	}
	var req httpsend.Request
	seen := map[string]bool{}
	err := jsonobject.EachKey(line, func(key string, value json.RawMessage) (err error) {
		seen[key] = true
		var n int64
		switch key {
		case "id":
			return stringOf(value, &job.ID)
		case "url":
			return stringOf(value, &req.URL)
		case "method":
			return stringOf(value, &req.Method)
		case "body":
			return stringOf(value, &req.Body)
		case "body_base64":
			return base64Of(value, &req.Base64)
		case "header":
			return headerOf(value, &req.Header)
		case "max_attempts":
			n, err = integer(value, 1, retryqueue.MaxAttempts)
			job.MaxAttempts = int(n)
		case "deadline_ms":
			n, err = integer(value, 1, int64(retryqueue.MaxMillis))
			job.Deadline, job.deadline = retryqueue.Millis(n), absolute
		case "deadline_in_ms":
			n, err = integer(value, 1, int64(retryqueue.MaxMillis-now))
			job.Deadline, job.deadline = now+retryqueue.Millis(n), fromNow
		case "available_at_ms":
			n, err = integer(value, 0, int64(retryqueue.MaxMillis))
			job.AvailableAt = retryqueue.Millis(n)
		default:
			return errors.New("no such key: id, url, method, header, body, body_base64, max_attempts, deadline_ms, deadline_in_ms, available_at_ms")
		}
		return err
	})
	switch {
	case err != nil:
		return job, err
	case !seen["id"]:
		return job, errors.New("id: missing")
	case seen["deadline_ms"] && seen["deadline_in_ms"]:
		return job, errors.New("deadline_ms and deadline_in_ms: only one of them")
	}
	if job.Payload, err = req.Encode(); err != nil {
		return job, err
	}
	return job, job.Check(now)
}

func stringOf(value json.RawMessage, to *string) error {
	if len(value) == 0 || value[0] != '"' {
		return fmt.Errorf("%s is no string", value)
	}
	return json.Unmarshal(value, to)
}

func base64Of(value json.RawMessage, to *[]byte) error {
	var text string
	err := stringOf(value, &text)
	if err != nil {
		return err
	}
	if *to, err = base64.StdEncoding.DecodeString(text); err != nil {
		return errors.New("no base64 (the standard alphabet, padded with =)")
	}
	return nil
}

// headerOf reads an object of header fields.
func headerOf(value json.RawMessage, to *map[string]string) error {
	*to = map[string]string{}
	return jsonobject.EachKey(value, func(name string, value json.RawMessage) error {
		var text string
		err := stringOf(value, &text)
		(*to)[name] = text
		return err
	})
}

// integer reads a whole number in digits: no fraction, no exponent, no boolean,
// no string.
func integer(value json.RawMessage, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n, err = math.MaxInt64, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s is no integer", value)
	}
	if n < least || n > most {
		return 0, fmt.Errorf("%s is out of range: from %d to %d", value, least, most)
	}
	return n, nil
}
