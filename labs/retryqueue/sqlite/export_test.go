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
