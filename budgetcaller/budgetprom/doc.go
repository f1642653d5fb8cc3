// Package budgetprom turns what a budgetcaller.Caller does into Prometheus
// metrics. It is a package of its own so that the library itself rests on
// nothing but the standard library and the kernel's interface.
//
//	hooks, err := budgetprom.New(prometheus.DefaultRegisterer, "price", "stock")
//	caller, err := budgetcaller.New(budgetcaller.Config{Hooks: hooks, …})
//
// It leaves out what a label could blow up: hosts, paths and error texts. A
// dependency that was not named to New is counted as "other".
package budgetprom
