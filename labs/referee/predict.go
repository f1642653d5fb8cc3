package referee

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"chaoslab/labs/referee/handin"
)

// PredictFile is the file in which the student writes figures down before
// measuring: lines of KEY = NUMBER.
const PredictFile = "predict.txt"

// maxPredict bounds the file.
const maxPredict = 16 << 10

// judgePredictions checks the figures in the student's folder.
func (l *Lab) judgePredictions(dir string) []Finding {
	if len(l.Predict) == 0 {
		return nil
	}
	text, err := handin.Read(dir, PredictFile, maxPredict)
	written := map[string]string{}
	if err == nil {
		written = parsePredictions(string(text))
	}
	var found []Finding
	for _, q := range l.Predict {
		f := Finding{
			Check: OwnPredict + " " + q.Key, Verdict: Pass, Look: q.Look,
			Expected: oneLine("the figure for: " + q.Ask),
		}
		value, ok := written[q.Key]
		n, bad := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
			f.Seen, f.Verdict = err.Error(), Fail
			f.Look = "the file " + PredictFile + ", which must lie in the folder"
		case !ok || value == "" || value == "?":
			f.Seen, f.Verdict = "no figure for "+q.Key, Fail
			f.Look = "the file " + PredictFile + ": a figure in the place of each question mark"
		case bad != nil || math.IsInf(n, 0) || math.IsNaN(n):
			f.Seen, f.Verdict = fmt.Sprintf("%s = %s, which is no number", q.Key, oneLine(value)), Fail
			f.Look = "the figure alone, with a point and without a unit: the question says which"
		case n < q.From || n > q.To:
			f.Seen, f.Verdict = fmt.Sprintf("%s = %v", q.Key, n), Fail
		default:
			f.Seen = fmt.Sprintf("%s = %v", q.Key, n)
		}
		found = append(found, f)
	}
	return found
}

// parsePredictions reads lines of KEY = VALUE; what follows # does not count.
func parsePredictions(text string) map[string]string {
	written := map[string]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if key, value, ok := strings.Cut(line, "="); ok {
			written[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return written
}

// PredictForm is the file as the student finds it.
func (l *Lab) PredictForm() string {
	var b strings.Builder
	b.WriteString("# Write each figure down BEFORE you measure, in the place of the question mark.\n")
	for _, q := range l.Predict {
		fmt.Fprintf(&b, "\n# %s\n%s = ?\n", q.Ask, q.Key)
	}
	return b.String()
}
