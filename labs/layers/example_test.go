package layers_test

import (
	"fmt"
	"time"

	"chaoslab/labs/layers"
)

func ExampleChain_Audit() {
	chain := layers.Chain{Layers: []layers.Layer{
		{Name: "api", Limit: layers.For(6*time.Second, "the gateway's 10 s less what the page needs")},
		{Name: "payment", Limit: layers.For(3*time.Second, "p99 of 1 s x 3"), Retries: layers.Count{N: 2}},
	}}
	audit, err := chain.Audit()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range audit.Findings {
		fmt.Printf("%s: %v: %s\n", f.Layer.Name, f.Verdict, f.Why())
	}
	for _, w := range audit.Warnings {
		fmt.Println("warning:", w)
	}
	// Output:
	// api: sound: 6s, and nobody outside
	// payment: cannot hold: 3s x 3 tries = 9s, but api has 6s for it: 3s too long
	// warning: payment: retries: no reason: where does it come from, and when was it measured?
}
