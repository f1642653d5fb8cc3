package sqlite

import (
	"context"
	"fmt"
)

// LimitPages makes the store's disk full at n pages.
func LimitPages(ctx context.Context, s *Store, n int) error {
	_, err := s.w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", n))
	return err
}

// DSN is the address of a file for the driver.
func DSN(path string) string { return dsn(path, "rwc") }
