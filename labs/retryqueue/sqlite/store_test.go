package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
	"chaoslab/labs/retryqueue/storetest"
)

func open(t *testing.T) retryqueue.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"), sqlite.Options{Create: true, Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}

func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			storetest.Model(t, open, seed, 250)
		})
	}
}
