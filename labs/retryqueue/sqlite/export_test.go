package sqlite

import (
	"context"
	"fmt"
)

// How a process gives way to another: see there.
const (
	TurnTime  = turnTime
	CrowdTime = crowdTime
	PauseTime = pauseTime
)

// LimitPages makes the store's disk full at n pages.
func LimitPages(ctx context.Context, s *Store, n int) error {
	_, err := s.w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", n))
	return err
}
