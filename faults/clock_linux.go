package faults

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timerfd is an alarm that the runtime's network poller waits for: it wakes
// within some 50 µs, where the runtime's own timers take up to a millisecond.
type timerfd struct {
	fd   int
	file *os.File
}

func newAlarm() (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd: %w", err)
	}
	return &timerfd{fd, os.NewFile(uintptr(fd), "timerfd")}, nil
}

// set implements alarm. The call can only fail for arguments that are never
// passed.
func (t *timerfd) set(in time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(in))}
	_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)
}

func (t *timerfd) wait() bool {
	var expirations [8]byte
	_, err := t.file.Read(expirations[:])
	return err == nil
}

func (t *timerfd) stop() { _ = t.file.Close() }
