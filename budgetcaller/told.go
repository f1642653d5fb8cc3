package budgetcaller

import (
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

// HeaderAttempt is the header in which Do tells the partner the number of the
// attempt, from 1. A request that has it already goes out with its own: whoever
// set it counts further than this call. An empty list of values sends none.
const HeaderAttempt = "X-Request-Attempt"

// told returns the request with what is left of the time in its headers, as
// reckoned now, or false if nothing is left. What it was given there is of an
// earlier hop and is taken out. The user's own request stays as it is.
func (a *attempt) told(now time.Time) (*http.Request, bool) {
	if a.tell == tellAsGiven {
		return a.req, true
	}
	if !a.ownReq {
		a.copied = *a.req
		a.req, a.ownReq = &a.copied, true
	}
	if !a.ownHeader {
		a.req.Header, a.ownHeader = a.header(a.req.Header), true
	}
	until := min(a.span.budget, a.span.attempt)
	if a.tell == tellNothing || until == never {
		return a.req, true
	}
	left := time.Duration(until) - now.Sub(a.span.start)
	values := &a.values
	if a.stub != nil {
		values = &a.stub.values
	}
	return a.req, deadline.SetIn(values, a.req.Header, left, now)
}

// header copies h without what tells of a deadline and with the number of the
// attempt. The values stay shared: none is changed.
func (a *attempt) header(h http.Header) http.Header {
	own := a.spare
	if own == nil {
		own = make(http.Header, len(h)+3)
	}
	if a.stub == nil {
		a.spare = own // a stub may keep it
	}
	counted := false
	for name, values := range h {
		switch len(name) {
		case len(deadline.HeaderTimeout), len(deadline.HeaderDeadline):
			if strings.EqualFold(name, deadline.HeaderTimeout) || strings.EqualFold(name, deadline.HeaderDeadline) {
				continue
			}
		case len(HeaderAttempt):
			counted = counted || strings.EqualFold(name, HeaderAttempt)
		}
		own[name] = values
	}
	if !counted {
		own[HeaderAttempt] = a.number
	}
	return own
}
