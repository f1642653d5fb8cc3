package prove

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/inbox"
	"chaoslab/labs/retryqueue/stores"
)

// receiver is who the jobs are sent to. It has an inbox and keeps its own count
// of everything that came.
type receiver struct {
	url    string
	seed   uint64
	lease  time.Duration
	db     *sql.DB
	box    *inbox.Inbox
	server *http.Server
	served chan error

	mu         sync.Mutex
	deliveries map[string]int // by id
	attempts   map[string]int // by id and attempt
	accepted   map[string]bool
	refused    map[string]bool // by id and attempt: answered with 400
	quiet      bool            // nobody is killed any more
	answered   map[string]int  // by id: the attempt whose acceptance was answered while all was quiet
	again      map[string]int  // by id: deliveries of later attempts
	duplicates int
	err        error // the first that a test must not pass over
}

func newReceiver(ctx context.Context, path string, seed uint64, lease time.Duration) (*receiver, error) {
	r := &receiver{seed: seed, lease: lease, served: make(chan error, 1), deliveries: map[string]int{}, attempts: map[string]int{}, accepted: map[string]bool{}, refused: map[string]bool{}, answered: map[string]int{}, again: map[string]int{}}
	var err error
	if r.db, err = stores.NewFile(path, "busy_timeout(10000)", "journal_mode(WAL)", "synchronous(OFF)"); err != nil {
		return nil, err
	}
	r.db.SetMaxOpenConns(1) // it is never killed: one writer is enough
	if r.box, err = inbox.New(ctx, inbox.Config{DB: r.db, Keep: 2 * time.Hour, Horizon: time.Hour}); err != nil {
		return nil, errors.Join(err, r.db.Close())
	}
	if _, err = r.db.ExecContext(ctx, `CREATE TABLE effects (id TEXT NOT NULL)`); err != nil {
		return nil, errors.Join(err, r.db.Close())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, r.db.Close())
	}
	r.url = "http://" + l.Addr().String() + "/"
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() { r.served <- r.server.Serve(l) }()
	return r, nil
}

func (r *receiver) close() error {
	err := r.server.Close()
	<-r.served // always ErrServerClosed now
	return errors.Join(err, r.db.Close())
}

// calm is called when nobody is killed any more: from now on, who is answered
// hears it.
func (r *receiver) calm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quiet = true
}

// end takes no more requests and waits for those under way, so that what was
// counted stands.
func (r *receiver) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return r.server.Shutdown(ctx)
}

// answer is what the receiver does with an attempt.
type answer uint8

const (
	accept    answer = iota // the effect, and 200
	busy                    // 503
	refuse                  // 400
	dropped                 // the effect, and no answer
	slow                    // the effect, and 200 after the lease
	slowBusy                // 503 after the lease
	slowShare = 13          // tenths of the lease that a slow answer takes
)

// script says what is answered to an attempt: it depends on nothing else.
func script(seed uint64, id string, attempt int) answer {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", seed, id, attempt)
	switch n := h.Sum64() % 100; {
	case n < 50:
		return accept
	case n < 70:
		return busy
	case n < 74:
		return refuse
	case n < 88:
		return dropped
	case n < 94:
		return slow
	}
	return slowBusy
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	id := req.Header.Get("Idempotency-Key")
	attempt, err := strconv.Atoi(req.Header.Get("X-Request-Attempt"))
	if _, rerr := io.Copy(io.Discard, req.Body); err != nil || rerr != nil || id == "" {
		r.fail(fmt.Errorf("receiver: a request without id or attempt: %w", errors.Join(err, rerr)))
		http.Error(w, "no id", http.StatusBadRequest)
		return
	}
	a := script(r.seed, id, attempt)
	nth := fmt.Sprintf("%s #%d", id, attempt)
	r.mu.Lock()
	r.deliveries[id]++
	r.attempts[nth]++
	if a == refuse {
		r.refused[nth] = true
	}
	if n := r.answered[id]; n > 0 && attempt > n {
		r.again[id]++
	}
	quiet := r.quiet
	r.mu.Unlock()
	if a == accept || a == dropped || a == slow {
		// Whether or not the sender is still there: that is what happens.
		if err := r.effect(context.WithoutCancel(req.Context()), id); err != nil {
			r.fail(fmt.Errorf("receiver: %w", err))
			http.Error(w, "no effect", http.StatusInternalServerError)
			return
		}
	}
	switch a {
	case busy:
		w.WriteHeader(http.StatusServiceUnavailable)
	case refuse:
		w.WriteHeader(http.StatusBadRequest)
	case dropped:
		panic(http.ErrAbortHandler)
	case slow, slowBusy:
		pauseFor(req.Context(), r.lease*slowShare/10)
		if a == slowBusy {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	if quiet && (a == accept || a == slow) && req.Context().Err() == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.answered[id] = attempt
	}
}

func (r *receiver) effect(ctx context.Context, id string) error {
	duplicate, err := r.box.Do(ctx, retryqueue.MillisOf(time.Now()), id, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO effects (id) VALUES (?)`, id)
		return err
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted[id] = true
	if duplicate {
		r.duplicates++
	}
	return nil
}

func (r *receiver) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}
