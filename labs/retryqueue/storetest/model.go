package storetest

import (
	"slices"
	"strconv"

	"chaoslab/labs/retryqueue"
)

// model is the contract of the queue in the plainest words: a list of jobs and
// no index, no transaction, no other writer.
type model struct {
	jobs []*retryqueue.Job
	acts int
}

func (m *model) find(id string) *retryqueue.Job {
	for _, j := range m.jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

func (m *model) add(now retryqueue.Millis, n retryqueue.NewJob) bool {
	if m.find(n.ID) != nil {
		return false
	}
	m.jobs = append(m.jobs, &retryqueue.Job{ID: n.ID, MaxAttempts: n.MaxAttempts, Deadline: n.Deadline, EnqueuedAt: now, AvailableAt: max(now, n.AvailableAt)})
	return true
}

// due is when a worker may have the job.
func due(j *retryqueue.Job) retryqueue.Millis {
	if j.State == retryqueue.Leased {
		return j.LeaseUntil
	}
	return j.AvailableAt
}

func (m *model) end(j *retryqueue.Job, now retryqueue.Millis, r retryqueue.Reason) {
	j.State, j.Reason, j.FinishedAt, j.AvailableAt, j.LeaseUntil = retryqueue.Dead, r, now, 0, 0
}

// claim takes the job that has been due the longest, and ends those that it
// finds before it and that can no longer be sent. If the first can be sent, it
// looks no further; else it ends all that are due.
func (m *model) claim(now retryqueue.Millis, lease int64) *retryqueue.Job {
	var open []*retryqueue.Job
	for _, j := range m.jobs {
		if !j.State.Final() && due(j) <= now {
			open = append(open, j)
		}
	}
	slices.SortStableFunc(open, func(a, b *retryqueue.Job) int { return int(due(a) - due(b)) })
	over := func(j *retryqueue.Job) bool { return j.Attempts >= j.MaxAttempts || j.Deadline <= now }
	if len(open) > 0 && over(open[0]) {
		for _, j := range open {
			if !over(j) {
				continue
			}
			if j.State == retryqueue.Leased {
				j.LeasesLost++
			}
			if j.Attempts >= j.MaxAttempts {
				m.end(j, now, retryqueue.ReasonExhausted)
			} else {
				m.end(j, now, retryqueue.ReasonDeadline)
			}
		}
	}
	for _, j := range open {
		if j.State.Final() {
			continue
		}
		if j.State == retryqueue.Leased {
			j.LeasesLost++
		}
		j.State, j.AvailableAt, j.LeaseUntil = retryqueue.Leased, 0, min(now+retryqueue.Millis(lease), j.Deadline)
		j.Attempts++
		return j
	}
	return nil
}

// word is what a send ends with.
type word uint8

const (
	accept  word = iota
	refuse       // for good
	again        // worth another attempt
	unclear      // unclassified
	words
)

// settle is what R6 says becomes of attempt, whose send ended with w between
// before and after; delay is the wait. It returns the outcome reported.
func (m *model) settle(id string, attempt int, w word, before, after retryqueue.Millis, delay int64) retryqueue.Outcome {
	j := m.find(id)
	back := after < before
	if w == unclear || back && w == again {
		if back {
			return retryqueue.Failed
		}
		return retryqueue.Unclassified
	}
	if j.State != retryqueue.Leased || j.Attempts != attempt {
		return retryqueue.Lost
	}
	at := after
	if back {
		at = before
	}
	switch {
	case w == accept:
		j.State, j.FinishedAt, j.LeaseUntil = retryqueue.Done, at, 0
		return retryqueue.Succeeded
	case w == refuse:
		m.end(j, at, retryqueue.ReasonPermanent)
	case j.Attempts == j.MaxAttempts:
		m.end(j, at, retryqueue.ReasonExhausted)
	case int64(at)+delay >= int64(j.Deadline):
		m.end(j, at, retryqueue.ReasonDeadline)
	default:
		j.State, j.AvailableAt, j.LeaseUntil = retryqueue.Pending, at+retryqueue.Millis(delay), 0
		return retryqueue.PutBack
	}
	return retryqueue.GivenUp
}

func (m *model) redrive(id string, now retryqueue.Millis, more int, deadline retryqueue.Millis) bool {
	j := m.find(id)
	if j == nil || j.State != retryqueue.Dead || j.Purged {
		return false
	}
	j.State, j.Reason, j.FinishedAt, j.AvailableAt = retryqueue.Pending, retryqueue.ReasonNone, 0, now
	j.Deadline, j.MaxAttempts = deadline, j.MaxAttempts+more
	m.acts++
	return true
}

func (m *model) purge(before retryqueue.Millis) int {
	n := 0
	for _, j := range m.jobs {
		if j.State.Final() && j.FinishedAt < before && !j.Purged {
			j.Purged = true
			n++
		}
	}
	return n
}

func (m *model) stats(now retryqueue.Millis) retryqueue.Stats {
	s := retryqueue.Stats{At: now}
	for _, j := range m.jobs {
		s.Attempts += int64(j.Attempts)
		s.LeasesLost += int64(j.LeasesLost)
		switch j.State {
		case retryqueue.Pending:
			s.Pending++
			if s.OldestAdded == 0 || j.EnqueuedAt < s.OldestAdded {
				s.OldestAdded = j.EnqueuedAt
			}
			if j.AvailableAt <= now && (s.OldestDue == 0 || j.AvailableAt < s.OldestDue) {
				s.OldestDue = j.AvailableAt
			}
		case retryqueue.Leased:
			s.Leased++
		case retryqueue.Done:
			s.Done++
		}
		switch j.Reason {
		case retryqueue.ReasonDeadline:
			s.DeadDeadline++
		case retryqueue.ReasonExhausted:
			s.DeadExhausted++
		case retryqueue.ReasonPermanent:
			s.DeadPermanent++
		}
	}
	return s
}

// show is a job as the model and the store must agree on it.
func show(j *retryqueue.Job) string {
	return j.ID + " " + brief(*j) + " purged=" + strconv.FormatBool(j.Purged)
}
