package screen_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chaoslab/budgetcaller/screen"
)

// An order is required, recommendations are not, and yesterday's rates will do.
func Example() {
	shop, err := screen.New(screen.Config{
		Name:   "shop",
		Budget: screen.For(2*time.Second, "what a customer waits for"),
		Groups: [][]screen.Part{
			{{Name: "order", Call: func(context.Context) (any, error) {
				return map[string]int{"id": 1043, "amount": 52000}, nil
			}}},
			{ // side by side
				{Name: "recommendations", Optional: true, Call: func(context.Context) (any, error) {
					return nil, errors.New("none today")
				}},
				{
					Name:     "rates",
					Call:     func(context.Context) (any, error) { return nil, errors.New("closed") },
					Fallback: screen.Fallback{Old: func() (any, time.Time, bool) { return 1.09, time.Now(), true }},
				},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := shop.Run(context.Background())
	fmt.Println("error:", err)
	fmt.Println("missing:", result.Degraded)
	for _, part := range result.Parts {
		fmt.Printf("%s: %s %q\n", part.Name, part.Source, part.Why)
	}
	// Output:
	// error: <nil>
	// missing: [recommendations]
	// order: call ""
	// recommendations: none "none today"
	// rates: old "closed"
}
