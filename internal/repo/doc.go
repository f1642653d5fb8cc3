// Package repo holds, as tests, what no single package can hold: that the
// README tells the truth, that every dependency has its reason, that imports
// run one way, that no test leaves this machine, that files stay short.
//
//	go test ./internal/repo            checks
//	go test ./internal/repo -update    renews the README's generated tables
//
// It has no code of its own and nobody imports it. What one package can hold
// about itself is tested in that package.
package repo
