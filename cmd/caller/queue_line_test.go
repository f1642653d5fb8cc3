package main

import (
	"strings"
	"testing"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
)

const lineNow retryqueue.Millis = 1_000_000

func TestParseJobLine(t *testing.T) {
	t.Parallel()
	d := addDefaults{within: 60_000, attempts: 10}
	const rest = `"id":"a","url":"http://127.0.0.1:1/"`
	for _, c := range []struct {
		name, line, err string
		deadline        retryqueue.Millis
		attempts        int
	}{
		{"defaults", `{` + rest + `}`, "", lineNow + 60_000, 10},
		{"all its own", `{` + rest + `,"deadline_ms":2000000,"max_attempts":3,"available_at_ms":1500000,"body_base64":"AA=="}`, "", 2_000_000, 3},
		{"from now", `{` + rest + `,"deadline_in_ms":1}`, "", lineNow + 1, 10},
		{"both deadlines", `{` + rest + `,"deadline_in_ms":1,"deadline_ms":2000000}`, "only one of them", 0, 0},
		{"deadline in the past", `{` + rest + `,"deadline_ms":1000000}`, "it is over already", 0, 0},
		{"available at the deadline", `{` + rest + `,"deadline_ms":2000000,"available_at_ms":2000000}`, "could never be sent", 0, 0},
		{"a boolean", `{` + rest + `,"max_attempts":true}`, "max_attempts: true is no integer", 0, 0},
		{"a fraction", `{` + rest + `,"deadline_in_ms":1.5}`, "deadline_in_ms: 1.5 is no integer", 0, 0},
		{"a fraction of nothing", `{` + rest + `,"max_attempts":2.0}`, "max_attempts: 2.0 is no integer", 0, 0},
		{"an exponent", `{` + rest + `,"deadline_in_ms":1e3}`, "deadline_in_ms: 1e3 is no integer", 0, 0},
		{"a string", `{` + rest + `,"max_attempts":"3"}`, `max_attempts: "3" is no integer`, 0, 0},
		{"base64 that is none", `{` + rest + `,"body_base64":"*"}`, "body_base64: no base64", 0, 0},
		{"base64 as numbers", `{` + rest + `,"body_base64":[1]}`, "body_base64: [1] is no string", 0, 0},
		{"a header that is a number", `{` + rest + `,"header":{"A":1}}`, "header: A: its value is no string", 0, 0},
		{"a header twice", `{` + rest + `,"header":{"A":"1","a":"2"}}`, "header: a: it is the same one as A", 0, 0},
		{"a header twice, alike", `{` + rest + `,"header":{"A":"1","A":"2"}}`, "header: A: it stands twice", 0, 0},
		{"a header that is null", `{` + rest + `,"header":null}`, "header: no JSON object", 0, 0},
		{"a header of null", `{` + rest + `,"header":{"A":null}}`, "header: A: its value is no string", 0, 0},
		{"half a character in the body", `{` + rest + `,"body":"x\ud83d"}`, `body: \ud83d alone is half a character`, 0, 0},
		{"half a character in a header", `{` + rest + `,"header":{"A":"\udc00"}}`, `header: \udc00 alone is half a character`, 0, 0},
		{"half a character in the url", `{"id":"a","url":"http://127.0.0.1:1/\ud800"}`, `url: \ud800 alone is half a character`, 0, 0},
		{"a whole character", `{` + rest + `,"body":"\ud83d\ude00"}`, "", lineNow + 60_000, 10},
		{"no UTF-8 in the body", `{` + rest + `,"body":"` + "\xff" + `"}`, "body: the byte 0xff is no UTF-8", 0, 0},
		{"no UTF-8 in a key", `{` + rest + `,"` + "\xff" + `":"x"}`, "the byte 0xff is no UTF-8", 0, 0},
		{"null", `{` + rest + `,"max_attempts":null}`, "max_attempts: null is no integer", 0, 0},
		{"NaN", `{` + rest + `,"max_attempts":NaN}`, "max_attempts: no JSON", 0, 0},
		{"infinity", `{` + rest + `,"deadline_in_ms":Infinity}`, "deadline_in_ms: no JSON", 0, 0},
		{"infinite by its exponent", `{` + rest + `,"deadline_in_ms":1e999}`, "is no integer", 0, 0},
		{"zero attempts", `{` + rest + `,"max_attempts":0}`, "max_attempts: 0 is out of range", 0, 0},
		{"negative", `{` + rest + `,"deadline_in_ms":-5}`, "deadline_in_ms: -5 is out of range", 0, 0},
		{"beyond int64", `{` + rest + `,"deadline_in_ms":99999999999999999999}`, "out of range", 0, 0},
		{"an id that is a number", `{"id":5,"url":"http://127.0.0.1:1/"}`, "id: 5 is no string", 0, 0},
		{"an empty id", `{"id":"","url":"http://127.0.0.1:1/"}`, "id: empty", 0, 0},
		{"no id", `{"url":"http://127.0.0.1:1/"}`, "id: missing", 0, 0},
		{"no url", `{"id":"a"}`, "url: empty", 0, 0},
		{"twice", `{` + rest + `,"id":"b"}`, "id: it stands twice", 0, 0},
		{"an unknown key", `{` + rest + `,"colour":1}`, "colour: no such key", 0, 0},
		{"another case", `{` + rest + `,"Max_Attempts":1}`, "Max_Attempts: no such key", 0, 0},
		{"no object", `[1]`, "no JSON object", 0, 0},
		{"no end", `{` + rest, "no JSON", 0, 0},
		{"something behind it", `{` + rest + `} {}`, "something stands behind", 0, 0},
	} {
		job, err := parseJobLine([]byte(c.line), d, lineNow)
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: parseJobLine(%s): got error %v, want %q", c.name, c.line, err, c.err)
		case err == nil && (job.Deadline != c.deadline || job.MaxAttempts != c.attempts):
			t.Errorf("%s: parseJobLine(%s): got %+v, want deadline %d and %d attempts", c.name, c.line, job, c.deadline, c.attempts)
		}
	}
}

func FuzzParseJobLine(f *testing.F) {
	f.Add([]byte(`{"id":"a","url":"http://127.0.0.1:1/","max_attempts":3,"deadline_in_ms":5,"header":{"A":"b"}}`))
	f.Add([]byte(`{"id":"a","id":1.5}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		job, err := parseJobLine(line, addDefaults{60_000, 10}, lineNow)
		if err != nil {
			return
		}
		if err := job.Check(lineNow); err != nil {
			t.Errorf("parseJobLine(%q) is not a job that can be added: %v", line, err)
		}
		if _, err := httpsend.Decode(job.Payload); err != nil {
			t.Errorf("parseJobLine(%q) has a payload that cannot be sent: %v", line, err)
		}
	})
}
