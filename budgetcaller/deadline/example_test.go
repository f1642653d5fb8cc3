package deadline_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"chaoslab/budgetcaller/deadline"
)

// A call with a quarter of a second left tells so.
func ExampleSet() {
	req := httptest.NewRequest(http.MethodGet, "http://price.example/", nil)
	now := time.UnixMilli(1_700_000_000_000)
	fmt.Println(deadline.Set(req.Header, 250*time.Millisecond, now))
	fmt.Println(req.Header.Get(deadline.HeaderTimeout), req.Header.Get(deadline.HeaderDeadline))
	fmt.Println(deadline.Set(req.Header, 0, now)) // must not be sent
	// Output:
	// true
	// 250 1700000000250
	// false
}

func ExampleAppend() {
	head := []byte("GET / HTTP/1.1\r\nHost: price.example\r\n")
	head, ok := deadline.Append(head, 250*time.Millisecond, time.UnixMilli(1_700_000_000_000))
	fmt.Printf("%v\n%q", ok, head)
	// Output:
	// true
	// "GET / HTTP/1.1\r\nHost: price.example\r\nX-Request-Timeout-Ms: 250\r\nX-Request-Deadline: 1700000000250\r\n"
}

// The relative value counts, whatever the sender's clock says: here it is an
// hour slow.
func ExampleAdopt() {
	arrived := time.UnixMilli(1_700_003_600_000)
	h := http.Header{}
	h.Set(deadline.HeaderTimeout, "250")
	h.Set(deadline.HeaderDeadline, "1700000000250")
	until, verdict := deadline.Adopt(h, arrived, time.Second, time.Second)
	fmt.Println(until.Sub(arrived), "by", verdict.By)
	fmt.Println("timeout", verdict.Timeout, "deadline", verdict.Deadline)
	// Output:
	// 250ms by timeout
	// timeout read deadline skewed
}

func ExampleMiddleware() {
	adopt, err := deadline.Middleware(deadline.Config{Cap: 2 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := adopt(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until, _ := r.Context().Deadline()
		fmt.Fprintln(w, "to be done within", time.Until(until).Round(time.Second))
	}))
	for _, timeout := range []string{"86400000", "0"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set(deadline.HeaderTimeout, timeout)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 to be done within 2s
	// 504 deadline already over: nothing was done
}

// A server of another protocol hands over the values as it received them.
func ExampleBegin() {
	metadata := map[string][]string{"x-request-timeout-ms": {"0"}}
	v := deadline.Values{Timeout: metadata["x-request-timeout-ms"], Deadline: metadata["x-request-deadline"]}
	_, cancel, verdict, err := deadline.Begin(context.Background(), v, time.Now(), deadline.Config{})
	if errors.Is(err, deadline.ErrOver) {
		fmt.Println("not done:", err, "by", verdict.By)
		return
	}
	defer cancel()
	// Output: not done: deadline already over by timeout
}
