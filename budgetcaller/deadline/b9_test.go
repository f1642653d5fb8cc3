package deadline_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/deadline"
)

// hop is a server that adopts deadlines, with a cap of its own of 1 s, and calls
// a server below that never answers. It answers with the class of that call.
// The channel tells what the server below was sent.
func hop(t *testing.T, call func(context.Context, *budgetcaller.Caller, *http.Request) (budgetcaller.Class, error)) (string, <-chan http.Header) {
	t.Helper()
	sent := make(chan http.Header, 10)
	below := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent <- r.Header
		<-r.Context().Done()
	}))
	caller, err := budgetcaller.New(budgetcaller.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(caller.Close)
	return serve(t, wrap(t, deadline.Config{Cap: most}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequest(http.MethodGet, below, nil)
		if err != nil {
			t.Error(err)
			return
		}
		class, err := call(r.Context(), caller, req)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusGatewayTimeout)
		fmt.Fprint(w, class)
	}))), sent
}

// byRun makes one attempt, which sends what it is given.
func byRun(ctx context.Context, caller *budgetcaller.Caller, req *http.Request) (budgetcaller.Class, error) {
	if left, _ := budgetcaller.Left(ctx); !deadline.Set(req.Header, left, time.Now()) {
		return 0, deadline.ErrOver
	}
	res, err := caller.Run(ctx, req, nil)
	if err != nil {
		return 0, err
	}
	return res.Last().Class, nil
}

// byDo makes a call, which passes the deadline down by itself.
func byDo(ctx context.Context, caller *budgetcaller.Caller, req *http.Request) (budgetcaller.Class, error) {
	_, err := caller.Do(ctx, req)
	var ended *budgetcaller.Error
	if errors.As(err, &ended) {
		return ended.Class, nil
	}
	return 0, fmt.Errorf("got %w, want an error with a class", err)
}

func TestB9AdoptingADeadlineFromOutside(t *testing.T) {
	t.Parallel()
	const over = "deadline already over: nothing was done\n"
	exhausted := budgetcaller.ClassBudgetExhausted.String()
	for _, c := range []struct {
		name    string
		timeout []string
		want    time.Duration // when the call ends; 0: at once, nothing called
		answer  string
	}{
		{"250", one("250"), 250 * ms, exhausted},
		{"86400000", one("86400000"), most, exhausted},
		{"zero", one("0"), 0, over},
		{"negative", one("-5"), 0, over},
		{"abc", one("abc"), most, exhausted},
		{"1e9", one("1e9"), most, exhausted},
		{"empty", one(""), most, exhausted},
		{"20 digits", one("12345678901234567890"), most, exhausted},
		{"doubled", []string{"250", "250"}, most, exhausted},
		{"doubled, not the same", []string{"250", "0"}, most, exhausted},
		{"joined", one("250, 250"), most, exhausted},
		{"none", nil, most, exhausted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const asks = 2 // always the same
			byRun, sentByRun := hop(t, byRun)
			byDo, sentByDo := hop(t, byDo)
			var all sync.WaitGroup
			for i := range 2 * asks {
				url := []string{byRun, byDo}[i%2]
				all.Go(func() {
					got, answer, err := ask(t.Context(), url, c.timeout)
					if err != nil || got < c.want || got > c.want+slack || answer != "504 "+c.answer {
						t.Errorf("%q: ended after %v with %q, %v, want %v to %v and %q",
							c.timeout, got, answer, err, c.want, c.want+slack, "504 "+c.answer)
					}
				})
			}
			all.Wait()
			for _, sent := range []<-chan http.Header{sentByRun, sentByDo} {
				for range asks * min(1, int(c.want)) {
					checkPassedOn(t, <-sent, c.want)
				}
				if len(sent) > 0 {
					t.Errorf("%q: the server below was called once too often: %v", c.timeout, <-sent)
				}
			}
		})
	}
}

// ask calls the hop and returns how long it took, with status and body.
func ask(ctx context.Context, url string, timeout []string) (time.Duration, string, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	req.Header = headers(timeout, nil)
	caller, err := budgetcaller.New(budgetcaller.Config{})
	if err != nil {
		return 0, "", err
	}
	defer caller.Close()
	// A watchdog.
	ctx, cancel, err := budgetcaller.Begin(ctx, 10*time.Second)
	if err != nil {
		return 0, "", err
	}
	defer cancel()
	var body strings.Builder
	begun := time.Now()
	res, err := caller.Run(ctx, req, &body)
	took := time.Since(begun)
	if err != nil {
		return took, "", err
	}
	return took, strconv.Itoa(res.Last().Status) + " " + body.String(), nil
}

// checkPassedOn checks what the hop told the server below: in (0, most].
func checkPassedOn(t *testing.T, h http.Header, most time.Duration) {
	t.Helper()
	left, reading := deadline.Parse(h.Values(deadline.HeaderTimeout))
	if reading != deadline.Read || left < 1 || left > most.Milliseconds() {
		t.Errorf("passed on %q (%v), want 1 to %d", h.Values(deadline.HeaderTimeout), reading, most.Milliseconds())
	}
	at, reading := deadline.Parse(h.Values(deadline.HeaderDeadline))
	now := time.Now()
	if reading != deadline.Read || at > now.Add(most).UnixMilli() || at < now.Add(-slack-most).UnixMilli() {
		t.Errorf("passed on %q (%v) at %d", h.Values(deadline.HeaderDeadline), reading, now.UnixMilli())
	}
}
