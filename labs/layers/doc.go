// Package layers checks layered limits from the outside in: whether what a
// layer may take at worst, retries and waits included, ends before the layer
// outside gives up on it.
//
// A chain lists its layers from the outside in, each with the limit of one call
// to the layer inside it, and how often it tries:
//
//	chain := layers.Chain{Layers: []layers.Layer{
//		{Name: "gateway", Limit: layers.For(10*time.Second, "slowest page")},
//		{Name: "api", Limit: layers.For(3*time.Second, "p99 of 1 s x 3"), Retries: layers.Count{N: 2, Reason: "one lost packet"}},
//	}}
//	audit, err := chain.Audit()
//
// With a limit of L and R retries a layer takes L x (R + 1) and the waits
// between its tries. That must be less than the limit of the layer outside. If
// it is not, the layer works on for nobody after the one outside has gone. Over
// 80 % of it is tight. A layer that adopts the deadline passed down to it ends
// with it and always holds.
//
// Tries multiply from layer to layer, and with them the load at the bottom when
// it fails: see Tries and Load.
//
// Left out: what a layer does by itself beside its calls inward, and several
// calls inward one after the other. Both need a measured time, not a limit: a
// screen under one budget is the tool for them. Trees are left out too: each way
// from the top to the bottom is a chain, audited by itself.
package layers
