// Package screen makes several calls under one budget and puts their answers
// together: all of them, or what is there when some of it is missing.
//
//	order, err := screen.New(screen.Config{
//		Name:   "order",
//		Budget: screen.For(2*time.Second, "what a customer waits for"),
//		Groups: [][]screen.Part{
//			{{Name: "order", Call: screen.Through(caller, "orders", getOrder)}},
//			{{Name: "recommendations", Optional: true, Call: screen.Through(caller, "shop", getRecommendations)}},
//		},
//	})
//	...
//	result, _ := order.Run(r.Context())
//	result.Respond(w) // {"order":{…},"recommendations":null,"degraded":["recommendations"]}
//
// Groups run in order, the parts of a group side by side. A part that fails is
// answered for in one of three ways, chosen beforehand: it is optional and
// missing, it has a fallback, or the screen fails and says why. The last is the
// default. Some of the budget, the reserve, is kept from the parts, so that
// there is time left to put the answer together.
//
// The Result accounts for every attempt in numbers: what was left of the budget
// before it, the limit it ran under, how long it waited and took, how it ended,
// and why it was not made. Screen.Check finds plans whose numbers cannot hold
// before anything is called.
//
// It leaves out:
//
//   - Retries, limits of an attempt, breakers: those are the budgetcaller.Caller's,
//     through which a part calls. Any other function will do as a part, too; then
//     a line of the account is the whole part.
//   - A store of old values. A Fallback asks for one; how it is kept and for
//     whom is the service's business.
//   - Parts that need what another part found. Call them in one part, or read
//     what an earlier group left where both can reach it.
//   - An end for functions that do not obey their context, which Go cannot
//     stop. They are left behind and told of; see Screen.Wait.
package screen
