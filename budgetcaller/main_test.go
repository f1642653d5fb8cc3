package budgetcaller

import (
	"testing"

	"go.uber.org/goleak"

	"chaoslab/internal/stall"
)

// machine tells how long all tests were kept waiting.
var machine = stall.Start()

// No test may leave a goroutine behind: an engine that does would go on dialling
// or reading after its call has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }
