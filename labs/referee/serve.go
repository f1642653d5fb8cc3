package referee

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// readyWord begins the line with which a program that serves tells its URL.
const readyWord = "ready "

// maxReply bounds the body of an answer that is kept.
const maxReply = 4 << 10

// serve runs the program as a chain of servers, each calling the next and the
// last the first partner, and makes the calls of the scenario to the first.
func (r *scenarioRun) serve(ctx context.Context) []Reply {
	var hops []*process
	defer func() {
		for _, pr := range hops {
			pr.stop()
			r.bury(pr, true)
		}
	}()
	var url string
	for i := r.Hops; i >= 1; i-- {
		ready := r.nextReady()
		var env []string
		if url != "" {
			env = []string{"LAB_URL=" + url}
		}
		pr := r.launch(append(env, fmt.Sprintf("LAB_HOP=%d", i)))
		if pr == nil {
			return nil
		}
		hops = append(hops, pr)
		select {
		case url = <-ready:
		case <-pr.done:
			r.find(OwnStart, "the program ended before it was ready"+r.lastError(), "a line \"ready URL\", and then a server that runs until it is ended", "how the server is started")
			return nil
		case <-ctx.Done():
			r.find(OwnStart, "no line \"ready URL\" on stdout"+r.lastError(), "a line \"ready URL\" once the program listens", "what is printed first, and whether it is flushed")
			return nil
		}
		if err := onLoopback(url); err != nil {
			r.find(OwnStart, err.Error(), "ready http://127.0.0.1:PORT/", "the address that the program listens on")
			return nil
		}
	}
	replies := r.callAll(ctx, url)
	// Whoever works on for a caller that has gone is to be seen at it.
	wait(ctx, time.Duration(r.SettleMS)*time.Millisecond)
	return replies
}

// nextReady returns a channel with the URL of the next line "ready URL".
func (r *scenarioRun) nextReady() <-chan string {
	ready := make(chan string, 1)
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	before := r.rec.tell
	r.rec.tell = func(l Line) {
		if before != nil {
			before(l)
		}
		if url, ok := strings.CutPrefix(strings.TrimSpace(l.Text), readyWord); ok && !l.Err {
			select {
			case ready <- strings.TrimSpace(url):
			default:
			}
		}
	}
	return ready
}

// onLoopback refuses a URL that leads away from this machine.
func onLoopback(url string) error {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	host := req.URL.Hostname()
	if ip := net.ParseIP(host); req.URL.Scheme != "http" || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("it says it is ready at %q, which is not http on loopback", oneLine(url))
	}
	return nil
}

// lead is how long calls that run behind others have to get under way.
const lead = 100 * time.Millisecond

// callAll makes the calls, in order or at once.
func (r *scenarioRun) callAll(ctx context.Context, url string) []Reply {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	batches := make([][]Reply, len(r.drive))
	var behind sync.WaitGroup
	for i, c := range r.drive {
		batch := make([]Reply, c.times)
		batches[i] = batch
		var wg sync.WaitGroup
		for n := range batch {
			if c.atOnce {
				wg.Go(func() { batch[n] = r.call(ctx, client, url, c) })
			} else {
				batch[n] = r.call(ctx, client, url, c)
			}
		}
		if c.behind {
			behind.Go(wg.Wait)
			wait(ctx, lead)
		} else {
			wg.Wait()
		}
	}
	behind.Wait()
	return slices.Concat(batches...)
}

// call makes one call to the program.
func (r *scenarioRun) call(ctx context.Context, client *http.Client, url string, c call) (reply Reply) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	reply.Start = millis(time.Since(r.start))
	defer func() {
		reply.End = millis(time.Since(r.start))
		r.tell("referee", "called %s: status %d after %.1f ms %s", url, reply.Status, reply.End-reply.Start, reply.Error)
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/"+strings.TrimPrefix(c.path, "/"), nil)
	if err != nil {
		reply.Error = err.Error()
		return reply
	}
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		reply.Error = oneLine(err.Error())
		return reply
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		reply.Error = oneLine(err.Error())
		return reply
	}
	reply.Status, reply.Body = resp.StatusCode, string(body)
	return reply
}
