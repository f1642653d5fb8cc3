// Package proof holds the referee to what is known: for every exercise and
// language the starter must fail, the solution must pass, and each of the
// exercise's wrong programs must fail for the right reason.
//
//	jobs, err := proof.Jobs(lab)
//	…
//	for _, j := range jobs {
//		if err := j.Missing(); err != nil { continue } // its language is not here
//		o := j.Grade(ctx, dir, seed)
//		fmt.Println(j.Name, o.Mark, o.Why)
//	}
//
// It leaves out how often and how many at a time: the tests of labs, and
// scripts/bench-referee, decide that.
package proof
