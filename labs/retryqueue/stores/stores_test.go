package stores_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaoslab/labs/retryqueue/stores"
)

// What is no path of a file and no PostgreSQL address is refused in one line, and
// no file of that name is made. No password is repeated.
func TestOpenRefusesAddresses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		name, where, want string
		o                 stores.Options
	}{
		{"nothing", "", "empty", stores.Options{}},
		{"memory", ":memory:", "memory", stores.Options{}},
		{"a URI of SQLite", "file:queue.db?mode=memory", "URI", stores.Options{}},
		{"a URI of SQLite in memory", "file::memory:", "URI", stores.Options{}},
		{"another database", "mysql://me:secret@host/db", "mysql://: give", stores.Options{}},
		{"sqlite://", "sqlite://queue.db", "sqlite://: give", stores.Options{}},
		{"words", "host=127.0.0.1 dbname=x password=secret", "words", stores.Options{}},
		{"one word", "dbname=x", "words", stores.Options{}},
		{"NUL", "queue\x00.db", "no path", stores.Options{}},
		{"a schema for a file", "queue.db", "schema", stores.Options{Schema: "x"}},
		{"read-only and to be made", "queue.db", "ReadOnly", stores.Options{ReadOnly: true}},
	} {
		c.o.Create = true
		s, err := stores.Open(t.Context(), c.where, c.o)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x00") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: Open(%q): got %v, want one line with %q", c.name, c.where, err, c.want)
		}
	}
	if left, err := filepath.Glob("*"); err != nil || len(left) > 0 {
		t.Errorf("files were made: %v, %v", left, err)
	}
}

// Odd paths name the file that the system means by them.
func TestOpenTakesOddPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for where, want := range map[string]string{
		"/" + dir + "/two-slashes.db":    "two-slashes.db",
		"./:memory:":                     ":memory:",
		"./file:x.db":                    "file:x.db",
		"a b%20?mode=memory#c.db":        "a b%20?mode=memory#c.db",
		"plain.db":                       "plain.db",
		filepath.Join(dir, "ümläut;.db"): "ümläut;.db",
	} {
		s, err := stores.Open(t.Context(), where, stores.Options{Create: true})
		if err != nil {
			t.Errorf("Open(%q): %v", where, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			t.Errorf("Open(%q): no file %q: %v", where, want, err)
		}
	}
}
