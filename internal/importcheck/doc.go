// Package importcheck holds, for a package's own test, what that package may rest
// on: imports run one way in this project, and each package says its part itself.
//
//	func TestImports(t *testing.T) {
//		importcheck.Only(t, ".", "chaoslab/budgetcaller/deadline")
//	}
//
// It reads the files of every system, tests left out. The rules that look at the
// whole project at once are in internal/repo.
package importcheck
