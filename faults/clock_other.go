//go:build !linux

package faults

import (
	"sync"
	"time"
)

// goAlarm is an alarm on the runtime's own timers.
type goAlarm struct {
	timer *time.Timer
	done  chan struct{}
	once  sync.Once
}

func newAlarm() (alarm, error) {
	return &goAlarm{timer: time.NewTimer(time.Hour), done: make(chan struct{})}, nil
}

func (a *goAlarm) set(in time.Duration) { a.timer.Reset(in) }

func (a *goAlarm) wait() bool {
	select {
	case <-a.timer.C:
		return true
	case <-a.done:
		return false
	}
}

func (a *goAlarm) stop() { a.once.Do(func() { close(a.done) }) }
