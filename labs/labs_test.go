package labs

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"chaoslab/internal/skip"
	"chaoslab/labs/referee/confine"
	"chaoslab/labs/referee/folder"
	"chaoslab/labs/referee/proof"
	"chaoslab/labs/sandbox"
)

func TestMain(m *testing.M) {
	if code, handled := sandbox.Main(os.Args); handled {
		os.Exit(code)
	}
	if code, handled := confine.Main(os.Args); handled {
		os.Exit(code) // this process could not become a student's program
	}
	os.Exit(m.Run())
}

// just is for whoever writes an exercise: go test ./labs -lab 2
var just = flag.Int("lab", 0, "only the exercise of this number")

// atATime is how many gradings run side by side: they mostly wait, and must not
// disturb each other.
const atATime = 6

// TestEveryExercise grades, for every exercise and language, the starter, which
// must fail, the solution, which must pass, and the wrong programs, which must
// each fail for the right reason.
func TestEveryExercise(t *testing.T) {
	t.Parallel()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	var jobs []proof.Job
	for _, lab := range all {
		if *just != 0 && *just != lab.Number {
			continue
		}
		langs := folder.Langs(lab)
		if !slices.Contains(langs, "go") || !slices.Contains(langs, "python") {
			t.Errorf("%s: starters in %v, want go and python at least", lab.Folder(), langs)
		}
		if len(lab.Wrong) < 3 {
			t.Errorf("%s: %d wrong programs, want three at least", lab.Folder(), len(lab.Wrong))
		}
		more, err := proof.Jobs(lab)
		if err != nil {
			t.Error(err)
		}
		jobs = append(jobs, more...)
	}
	outcomes := gradeAll(t, jobs)
	for i, j := range jobs {
		t.Run(j.Name, func(t *testing.T) {
			switch o := outcomes[i]; {
			case errors.Is(j.Missing(), exec.ErrNotFound) && (j.Lang == "go" || j.Lang == "python"):
				skip.Missing(t, j.Missing()) // every exercise is held in both
			case j.Missing() != nil:
				t.Skip(j.Missing())
			case o.Mark == proof.Unsure && !o.Elsewhere:
				t.Skipf("too busy to tell: %s", o.Why) // an inconclusive verdict is not a wrong one
			case o.Mark != proof.Right:
				t.Errorf("%s\nwant %s", o.Why, j.Wants())
			}
		})
	}
}

// gradeAll grades the jobs, some at a time.
func gradeAll(t *testing.T, jobs []proof.Job) []proof.Outcome {
	t.Helper()
	outcomes := make([]proof.Outcome, len(jobs))
	dir := t.TempDir()
	late := lateAfter(t)
	var wg sync.WaitGroup
	next := make(chan int)
	for range atATime {
		wg.Go(func() {
			for i := range next {
				if late() {
					outcomes[i] = proof.Outcome{Mark: proof.Unsure, Why: "not graded: the time for the tests is nearly over"}
					continue
				}
				outcomes[i] = jobs[i].GradeUntilSure(t.Context(), filepath.Join(dir, fmt.Sprint(i)), 1, 2, 3, 4)
			}
		})
	}
	for i, j := range jobs {
		if j.Missing() == nil {
			next <- i
		}
	}
	close(next)
	wg.Wait()
	for i, j := range jobs {
		// Gradings beside other packages' tests can starve one program without the
		// canary's noticing it: a second time it has the machine to itself.
		if j.Missing() == nil && (outcomes[i].Mark == proof.Off || outcomes[i].Elsewhere) {
			t.Logf("%s, beside others: %s", j.Name, outcomes[i].Why)
			if late() {
				outcomes[i] = proof.Outcome{Mark: proof.Unsure, Why: "not graded alone: the time for the tests is nearly over"}
				continue
			}
			outcomes[i] = j.GradeUntilSure(t.Context(), filepath.Join(dir, fmt.Sprint(i, "-again")), 5, 6, 7, 8)
		}
	}
	return outcomes
}

// lateAfter returns what says whether less than a fifth of the time that go test gives
// is left: a machine on which that happens is too busy to tell anything.
func lateAfter(t *testing.T) func() bool {
	t.Helper()
	end, limited := t.Deadline()
	begun := time.Now()
	return func() bool { return limited && time.Since(begun) > end.Sub(begun)*4/5 }
}
