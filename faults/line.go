package faults

import (
	"container/list"
	"sync"
)

// line is the workers of one listener and those who wait for one of them, first
// come, first served. Behind the bounded queue there may be others who wait for
// a place in it.
type line struct {
	mu      sync.Mutex
	workers int
	free    int   // workers that have nothing to do; negative: so many are to go when they are done
	room    int   // places in the queue
	work    Shape // of whoever gets a worker
	queue   list.List
	behind  list.List
}

func newLine(workers, room int, work Shape) *line {
	return &line{workers: workers, free: workers, room: room, work: work}
}

// change gives the line another number of workers and of places, and other work
// for whoever gets a worker from now on. Who is in it stays: a queue that has
// become too long only takes nobody in.
func (l *line) change(workers, room int, work Shape) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free += workers - l.workers
	l.workers, l.room, l.work = workers, room, work
	for l.free > 0 && l.serveNext() {
		l.free--
	}
	l.fill()
}

// ticket is one request's place in a line.
type ticket struct {
	turn   chan struct{} // has an element once a worker is there for it
	at     *list.Element // where it waits; nil: it does not
	in     *list.List
	served bool
}

// enter puts a request in line, or gives it a worker at once: then its turn has
// come. It returns false if the queue is full and the request does not wait for
// a place in it.
func (l *line) enter(waits bool) (*ticket, bool) {
	t := &ticket{turn: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.free > 0: // so nobody waits
		l.free--
		t.serve()
	case l.queue.Len() < l.room:
		t.wait(&l.queue)
	case waits:
		t.wait(&l.behind)
	default:
		return nil, false
	}
	return t, true
}

// workNow is what a request takes that gets its worker now.
func (l *line) workNow() Shape {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.work
}

func (t *ticket) wait(in *list.List) { t.in, t.at = in, in.PushBack(t) }

func (t *ticket) serve() {
	t.served, t.in, t.at = true, nil, nil
	t.turn <- struct{}{}
}

// isBehind says whether t has no place in the queue yet.
func (l *line) isBehind(t *ticket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.in == &l.behind
}

// leave gives up t's place, or its worker if it has one by now.
func (l *line) leave(t *ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.served {
		l.next()
		return
	}
	t.in.Remove(t.at)
	t.in, t.at = nil, nil
	l.fill()
}

// next has a worker that is free take the first of the queue. It is called with
// the lock held.
func (l *line) next() {
	if l.free < 0 || !l.serveNext() {
		l.free++
	}
}

// serveNext gives the first of the queue a worker. It returns false if nobody
// waits. It is called with the lock held.
func (l *line) serveNext() bool {
	front := l.queue.Front()
	if front == nil {
		front = l.behind.Front() // only where the queue has no room at all
	}
	if front == nil {
		return false
	}
	t := front.Value.(*ticket)
	t.in.Remove(front)
	t.serve()
	l.fill()
	return true
}

// fill gives free places in the queue to those behind it. It is called with the
// lock held.
func (l *line) fill() {
	for l.queue.Len() < l.room && l.behind.Len() > 0 {
		front := l.behind.Front()
		t := l.behind.Remove(front).(*ticket)
		t.wait(&l.queue)
	}
}

// standing is how a wait in line ended.
type standing uint8

const (
	itsTurn   standing = iota
	timedOut           // until has come
	leftAlone          // the client has left, or the partner is shutting down
)

// await waits for t's turn, but not after until (0: however long it takes) and,
// where heedLeaving is set, only as long as the client is there.
func (x *Exchange) await(t *ticket, until int64, heedLeaving bool) standing {
	select {
	case <-t.turn:
		return itsTurn
	default:
	}
	gone := x.look(watchKeep)
	if !heedLeaving {
		gone = nil
	}
	var alarm <-chan struct{}
	if until != 0 {
		alarm = x.w.ch
		x.c.p.clock.start(&x.w, until)
		defer x.c.p.clock.cancel(&x.w)
	}
	select {
	case <-t.turn:
		return itsTurn
	case <-alarm:
		return timedOut
	case <-gone:
		x.hasLeft()
	case <-x.c.p.stopping:
		x.end = ending{kind: endRST, how: stopped}
	}
	return leftAlone
}
