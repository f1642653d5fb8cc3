package budgetcaller_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"chaoslab/budgetcaller"
)

// A call under a budget: the answer goes to a writer, the account comes back.
func ExampleCaller_Run() {
	partner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello\n")
	}))
	defer partner.Close()

	caller, err := budgetcaller.New(budgetcaller.Config{
		Limits: budgetcaller.Limits{Connect: 300 * time.Millisecond, Read: time.Second},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer caller.Close()

	ctx, cancel, err := budgetcaller.Begin(context.Background(), 5*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cancel()

	req, err := http.NewRequest(http.MethodGet, partner.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := caller.Run(ctx, req, os.Stdout)
	if err != nil {
		fmt.Println(err) // the request itself cannot be sent
		return
	}
	rec := res.Last()
	fmt.Printf("%v: status %d, %d of %d bytes, effect %v\n", rec.Class, rec.Status, rec.Bytes, rec.Expected, rec.Effect)
	// Output:
	// hello
	// ok: status 200, 6 of 6 bytes, effect answered
}

// A partner that reads the request and never answers: the read limit, its
// longest silence, ends the attempt, and it may have happened.
func ExampleCaller_Run_silence() {
	partner := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // until the caller has gone
	}))
	defer partner.Close()

	caller, err := budgetcaller.New(budgetcaller.Config{
		Limits: budgetcaller.Limits{Read: 200 * time.Millisecond},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer caller.Close()

	ctx, cancel, err := budgetcaller.Begin(context.Background(), 5*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cancel()

	req, err := http.NewRequest(http.MethodGet, partner.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := caller.Run(ctx, req, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	rec := res.Last()
	fmt.Printf("%v in phase %v by limit %v, effect %v\n", rec.Class, rec.Phase, rec.Limit, rec.Effect)
	fmt.Println(rec.Err)
	// Output:
	// read_timeout in phase first_byte by limit read, effect unknown
	// read_timeout: read limit of 200ms ended it in phase first_byte
}

// What bites later is refused at once, by name.
func ExampleNew() {
	_, err := budgetcaller.New(budgetcaller.Config{
		Limits: budgetcaller.Limits{Read: -time.Second},
	})
	fmt.Println(err)
	// Output:
	// limits: Read: -1s is out of range: above 0 and at most 8784h0m0s, or NoLimit
}
