// A durable queue: first on disk, then on the wire. The disk holds a journal, one
// JSON line for each change of a job; the last line of a job counts.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

type job struct {
	ID       string `json:"id"`
	Most     int    `json:"max_attempts"`
	Length   int64  `json:"deadline_ms"`
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	Due      int64  `json:"due"`
	Deadline int64  `json:"deadline"` // Unix milliseconds, like Due
}

func now() int64 { return time.Now().UnixMilli() }

type queue struct {
	journal *os.File
	jobs    []*job
	delay   int64
	read    time.Duration
}

func main() {
	q := &queue{delay: env("LAB_DELAY_MS"), read: time.Duration(env("LAB_READ_MS")) * time.Millisecond}
	if err := q.open(filepath.Join(os.Getenv("LAB_DIR"), "journal")); err != nil {
		fail(err)
	}
	for {
		j := q.next()
		if j == nil {
			break
		}
		<-time.After(time.Duration(j.Due-now()) * time.Millisecond)
		if err := q.attempt(j); err != nil {
			fail(err)
		}
	}
	results := map[string]string{}
	for _, j := range q.jobs {
		results[j.ID] = j.State
	}
	text, err := json.Marshal(results)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

// open reads the journal, hands in what is new, and takes up what was being sent
// when the program died.
func (q *queue) open(path string) error {
	var err error
	if q.journal, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return err
	}
	known := map[string]*job{}
	lines := bufio.NewScanner(q.journal)
	for lines.Scan() {
		var j job
		if json.Unmarshal(lines.Bytes(), &j) != nil {
			continue // half a line: the crash came while it was written
		}
		if known[j.ID] == nil {
			known[j.ID] = &job{}
			q.jobs = append(q.jobs, known[j.ID])
		}
		*known[j.ID] = j
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if _, err := q.journal.WriteString("\n"); err != nil { // ends such a half line
		return err
	}
	var asked []*job
	if err := json.Unmarshal([]byte(os.Getenv("LAB_JOBS")), &asked); err != nil {
		return err
	}
	for _, j := range asked {
		if known[j.ID] == nil {
			q.jobs = append(q.jobs, j)
			j.State, j.Due, j.Deadline = "pending", now(), now()+j.Length
			if err := q.write(j); err != nil {
				return err
			}
		}
	}
	for _, j := range q.jobs {
		if j.State == "claimed" {
			j.State, j.Due = "pending", now()
		}
	}
	return nil
}

// write puts the job on disk: it is there when write returns.
func (q *queue) write(j *job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if _, err := q.journal.Write(append(text, '\n')); err != nil {
		return err
	}
	return q.journal.Sync()
}

// next returns the pending job that is due first, nil if there is none.
func (q *queue) next() *job {
	var first *job
	for _, j := range q.jobs {
		if j.State == "pending" && (first == nil || j.Due < first.Due) {
			first = j
		}
	}
	return first
}

func (q *queue) attempt(j *job) error {
	switch {
	case j.Attempts >= j.Most:
		j.State = "exhausted"
		return q.write(j)
	case now() >= j.Deadline:
		j.State = "deadline"
		return q.write(j)
	}
	j.State = "claimed"
	j.Attempts++
	if err := q.write(j); err != nil {
		return err
	}
	status := q.send(j)
	switch {
	case status != 0 && status < 400:
		j.State = "done"
	case status >= 400 && status < 500:
		j.State = "permanent"
	case j.Attempts >= j.Most:
		j.State = "exhausted"
	case now()+q.delay >= j.Deadline:
		j.State = "deadline"
	default:
		j.State, j.Due = "pending", now()+q.delay
	}
	return q.write(j)
}

// send returns the status, 0 if no whole answer came.
func (q *queue) send(j *job) int {
	ctx, cancel := context.WithTimeout(context.Background(), q.read)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Idempotency-Key", j.ID)
	// A connection of its own: on a used one net/http would resend by itself.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

func env(name string) int64 {
	n, err := strconv.ParseInt(os.Getenv(name), 10, 64)
	if err != nil {
		fail(err)
	}
	return n
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
