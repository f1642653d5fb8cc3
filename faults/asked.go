package faults

import (
	"errors"
	"net/url"
	"strings"
)

// asked returns the fault that the request asks for by itself, empty for none.
func (x *Exchange) asked() (string, error) {
	texts := x.req.Header["X-Partner-Fault"]
	if strings.Contains(x.req.URL.RawQuery, "fault") {
		// What is broken beside other parameters is not ours to judge.
		query, err := url.ParseQuery(x.req.URL.RawQuery)
		if err != nil && strings.Contains("&"+x.req.URL.RawQuery, "&fault=") {
			return "", errors.New("the query cannot be read, and with it which fault is asked for: & separates, and % is written %25")
		}
		texts = append(texts[:len(texts):len(texts)], query["fault"]...)
	}
	switch {
	case len(texts) == 0:
		return "", nil
	case len(texts) > 1:
		return "", errors.New("a fault is asked for twice: by one X-Partner-Fault or one ?fault= alone")
	case texts[0] == "":
		_, err := Parse("")
		return "", err
	}
	return texts[0], nil
}
