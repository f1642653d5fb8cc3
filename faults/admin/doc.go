// Package admin lets a running partner be looked at over HTTP, and is the
// client for it.
//
//	server, err := admin.Start(admin.Config{Partner: p, Listen: "127.0.0.1:8079"})
//	…
//	client, err := admin.NewClient(server.URL())
//	entries, err := client.Ledger(ctx, faults.Query{}, 0)
//
// It leaves out authentication: it is meant for loopback, and refuses what a
// web page could send there (a foreign Host, an Origin, a body that is not
// declared as JSON).
package admin
