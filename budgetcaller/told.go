package budgetcaller

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"chaoslab/budgetcaller/deadline"
)

// telling is what the partner is told of the time that is left.
type telling uint8

const (
	tellAsGiven telling = iota // the request goes out as it was given
	tellTime                   // what is left, in two headers
	tellNothing                // not even what the request was given
)

func (d *dependency) tell() telling {
	if d.KeepDeadline {
		return tellNothing
	}
	return tellTime
}

// told returns the request with what is left of the time in its headers, as
// reckoned now, or false if nothing is left. What it was given there is of an
// earlier hop and is taken out. The user's own request stays as it is.
func (a *attempt) told() (*http.Request, bool) {
	if a.tell == tellAsGiven {
		return a.req, true
	}
	if !a.ownReq {
		clone := *a.req
		a.req, a.ownReq = &clone, true
	}
	if !a.ownHeader {
		a.ownHeader = true
		a.req.Header = maps.Clone(a.req.Header) // values stay shared, none is changed
		if a.req.Header == nil {
			a.req.Header = http.Header{}
		}
		for name := range a.req.Header {
			if strings.EqualFold(name, deadline.HeaderTimeout) || strings.EqualFold(name, deadline.HeaderDeadline) {
				delete(a.req.Header, name)
			}
		}
	}
	until := min(a.span.budget, a.span.attempt)
	if a.tell == tellNothing || until == never {
		return a.req, true
	}
	now := time.Now()
	left := time.Duration(until) - now.Sub(a.span.start)
	return a.req, deadline.Set(a.req.Header, left, now)
}
