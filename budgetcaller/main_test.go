package budgetcaller

import (
	"testing"

	"go.uber.org/goleak"
)

// No test may leave a goroutine behind: an engine that does would go on dialling
// or reading after its call has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
