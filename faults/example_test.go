package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"chaoslab/faults"
)

// A partner that answers late, a client that does not wait so long, and what the
// partner says about it.
func Example() {
	slow, err := faults.Parse("slow:delay=200ms")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{slow}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := http.Client{Timeout: 50 * time.Millisecond}
	_, err = client.Get(p.Listeners()[0].URL)
	fmt.Println("the client has an answer:", err == nil)

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p.Ledger().Wait(ctx, faults.Query{})
	time.Sleep(300 * time.Millisecond) // the work goes on
	for _, e := range p.Ledger().Entries(faults.Query{}) {
		if e.Kind == "request" {
			fmt.Printf("asked for %v ms, ended by the %s, effect: %v\n", e.Asked, e.EndedBy, e.Effect)
		}
	}
	if err := p.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the client has an answer: false
	// asked for 200 ms, ended by the client, effect: true
}
