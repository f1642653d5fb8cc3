// Package referee runs a student's program, in whatever language, against
// partners that fail on purpose, and judges it by what the partners saw.
//
// An exercise is a folder with a lab.yaml: its scenarios are data, and each names
// the checks that it wants, which are Go functions of this package (see Checks).
//
//	lab, err := referee.Load(folder)
//	…
//	p, err := referee.Prepare(ctx, referee.ProgramConfig{Dir: "my-solution", Env: os.Environ()})
//	…
//	defer p.Close()
//	grade, err := referee.Run(ctx, lab, p, referee.Options{Seed: 42})
//	for _, s := range grade.Scenarios { fmt.Println(s.Name, s.Verdict) }
//
// The program gets its task by environment variables and says what it thinks
// happened in the last line of its output: one word, or a JSON object. What it
// says is only half of it. The other half is the partner's ledger: when each
// connection came and went and who ended it, how many requests there were, what
// took effect. A connect that never arrives is seen in the kernel's table of
// sockets, where there is one.
//
// A verdict has three values. A canary measures how late the machine wakes those
// who sleep; where it was too late for the figure in question, nobody is failed
// for it: the verdict is inconclusive, and the scenario is run again, a bounded
// number of times. On a machine without a core to spare a failure that a delay could
// explain counts once it has come twice.
//
// It leaves out everything that would make it a security boundary: a program
// that means harm can do what its user can. What goes wrong by accident is
// bounded: time, output, file size, children and, with ProgramConfig.Confine where
// the kernel has Landlock, where it can write.
package referee
