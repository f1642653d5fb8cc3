package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"chaoslab/labs/referee"
)

// Reset moves what is in the folder into a folder beside it, whose name it
// returns, and lays it anew. Nothing is lost, and a shell that stands in the
// folder stays in it.
func (f *Folder) Reset(lab *referee.Lab) (string, error) {
	dir, err := filepath.Abs(f.Dir)
	if err != nil {
		return "", err
	}
	aside := ""
	for i := 1; ; i++ {
		aside = fmt.Sprintf("%s.old%d", dir, i)
		if err := os.Mkdir(aside, 0o755); err == nil {
			break
		} else if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return aside, err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(aside, e.Name())); err != nil {
			return aside, err
		}
	}
	fresh, err := Lay(lab, f.Progress.Lang, f.Dir)
	if err != nil {
		return aside, err
	}
	*f = *fresh
	return aside, nil
}
