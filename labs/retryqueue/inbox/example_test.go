package inbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"time"

	"chaoslab/labs/retryqueue/inbox"
)

// The same id comes twice, and is paid once.
func ExampleInbox_Do() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	box, err := inbox.New(ctx, inbox.Config{DB: db, Keep: 48 * time.Hour, Horizon: 24 * time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		duplicate, err := box.Do(ctx, 1_000_000, "order-17", func(context.Context, *sql.Tx) error {
			fmt.Println("paid") // write it with the transaction
			return nil
		})
		fmt.Println("duplicate:", duplicate, err)
	}
	// Output:
	// paid
	// duplicate: false <nil>
	// duplicate: true <nil>
}
