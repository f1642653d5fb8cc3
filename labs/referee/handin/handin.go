package handin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// ErrNotRegular says that a name stands for what is no regular file.
var ErrNotRegular = errors.New("is no regular file")

// ErrTooLong says that a file is longer than it may be.
var ErrTooLong = errors.New("is too long")

// Read returns what the file holds, if it is a regular file of at most so many
// bytes. It never waits for anything else than the disk.
func Read(dir, name string, most int64) ([]byte, error) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	// Opening a pipe would wait for its writer, and O_NONBLOCK does not.
	f, err := os.OpenFile(full, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", full, ErrNotRegular)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s %w: %d bytes at most", full, ErrTooLong, most)
	}
	return text, err
}

// Write replaces the file, at once or not at all, and makes the folders on the way
// to it. What stands in its place is not followed: nothing outside dir changes.
// The name has slashes.
func Write(dir, name string, text []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if at := path.Dir(name); at != "." {
		if err := root.MkdirAll(at, 0o755); err != nil {
			return err
		}
	}
	fresh := name + ".new"
	if err := root.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(fresh))
	}
	return root.Rename(fresh, name)
}
