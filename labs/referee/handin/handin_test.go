package handin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o755), Write(dir, "a/file", []byte("12345"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		most       int64
		want       error
	}{
		{"just fits", "a/file", 5, nil},
		{"too long", "a/file", 4, ErrTooLong},
		{"not there", "b", 5, fs.ErrNotExist},
		{"a folder", "folder", 5, ErrNotRegular},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, err := Read(dir, c.file, c.most)
			if !errors.Is(err, c.want) || err == nil && string(text) != "12345" {
				t.Errorf("Read(%q, %d): %q, %v; want %v", c.file, c.most, text, err, c.want)
			}
		})
	}
}

func TestWriteReplaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, text := range []string{"one", "a second one", ""} {
		if err := Write(dir, "x/y", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(dir, "x/y", 100); err != nil || string(got) != text {
			t.Errorf("Read after Write of %q: %q, %v", text, got, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "x")); err != nil || len(entries) != 1 {
		t.Errorf("what is left: %v, %v, want one file", entries, err)
	}
}
