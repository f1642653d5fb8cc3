package budgetcaller

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Attempts, their headers and their connections are used again, by whichever
// call comes next. No call may see anything of another one, whatever cut some of
// them off.
func TestCallsKeepApart(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Header.Get("Hang") != "" {
			<-r.Context().Done()
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s %s %v %s", r.Method, r.URL.Path, r.Header.Get("Who"), r.Header["Only"], body)
	}))
	defer srv.Close()
	c := newCaller(t, Config{MaxConnsPerHost: 16})
	var wg sync.WaitGroup
	for who := range 40 {
		wg.Go(func() {
			for n := range 25 {
				keptApart(t, c, srv.URL, who, n)
			}
		})
	}
	wg.Wait()
	if open, idle, waiting := slots(c); open != idle || waiting != 0 {
		t.Errorf("%d places are taken, %d of them by idle connections, and %d wait", open, idle, waiting)
	}
}

func keptApart(t *testing.T, c *Caller, url string, who, n int) {
	ctx, cancel, err := Begin(context.Background(), 20*time.Second)
	if err != nil {
		t.Error(err)
		return
	}
	defer cancel()
	method, body := http.MethodGet, io.Reader(nil)
	text := fmt.Sprintf("body %d of %d", n, who)
	switch n % 3 {
	case 1:
		method, body = http.MethodPut, strings.NewReader(text)
	case 2:
		method, body = http.MethodPost, readerFunc(strings.NewReader(text).Read)
	default:
		text = ""
	}
	req, err := http.NewRequest(method, fmt.Sprintf("%s/%d/%d", url, who, n), body)
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Who", fmt.Sprint(who))
	only := "[]"
	if n%4 == 0 { // a header that the next one on the same attempt does not have
		req.Header.Set("Only", fmt.Sprint(n))
		only = fmt.Sprintf("[%d]", n)
	}
	if n%5 == 4 {
		req.Header.Set("Hang", "yes")
		defer time.AfterFunc(time.Duration(who)*time.Millisecond/4, cancel).Stop()
	}
	got, err := c.Do(ctx, req)
	if n%5 == 4 {
		if err == nil {
			t.Errorf("canceled, but answered: %s", got.Body)
		}
		return
	}
	want := fmt.Sprintf("%s /%d/%d %d %s %s", method, who, n, who, only, text)
	if err != nil || string(got.Body) != want {
		t.Errorf("got %v, %v; want %s", got, err, want)
	}
}
