//go:build unix

package referee

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a file of the folder must not hold up a grading.
func TestPipesInTheFolder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{RunFile, PredictFile} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
				t.Fatal(err)
			}
			seen := make(chan string, 1)
			go func() {
				if name == RunFile {
					_, err := Prepare(t.Context(), ProgramConfig{Dir: dir, Env: os.Environ()})
					seen <- err.Error()
					return
				}
				lab := &Lab{Predict: []Question{{Key: "k", Ask: "how long?"}}}
				seen <- lab.judgePredictions(dir)[0].Seen
			}()
			select {
			case got := <-seen:
				if !strings.Contains(got, "no regular file") {
					t.Errorf("with a pipe as %s: %q, want that it is no regular file", name, got)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("with a pipe as %s nothing has come", name)
			}
		})
	}
}
