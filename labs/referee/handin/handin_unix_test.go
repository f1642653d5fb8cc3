//go:build unix

package handin

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a file must not hold up who reads it.
func TestReadPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "predict.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := Read(dir, "predict.txt", 10)
		read <- err
	}()
	select {
	case err := <-read:
		if !errors.Is(err, ErrNotRegular) {
			t.Errorf("Read of a pipe: %v, want %v", err, ErrNotRegular)
		}
	case <-time.After(10 * time.Second):
		t.Error("Read of a pipe has not returned")
	}
}

// What a link leads to stays as it is, wherever on the way the link stands.
func TestWriteThroughLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, link string // what is a link in the student's folder
		folder     bool   // that leads to a folder
		refused    bool
	}{
		{"the file", ".lab/progress.json", false, false},
		{"the file that is to take its place", ".lab/progress.json.new", false, false},
		{"the folder", ".lab", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, outside := t.TempDir(), t.TempDir()
			victim := filepath.Join(outside, "progress.json")
			if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
			to, at := victim, filepath.Join(dir, filepath.FromSlash(c.link))
			if c.folder {
				to = outside
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at)); err != nil {
				t.Fatal(err)
			}
			if err := Write(dir, ".lab/progress.json", []byte("new")); (err != nil) != c.refused {
				t.Errorf("Write with %s a link: %v, want refused %v", c.link, err, c.refused)
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
				t.Errorf("outside the folder: %q, %v, want %q", text, err, "mine")
			}
			if text, err := Read(dir, ".lab/progress.json", 10); !c.refused && (err != nil || string(text) != "new") {
				t.Errorf("Read: %q, %v, want %q", text, err, "new")
			}
		})
	}
}
