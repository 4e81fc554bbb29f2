package review

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// usedUpEnv makes the test binary a process that writes down used-up quotas in
// the directory until it is killed.
const usedUpEnv = "STOPGATE_REVIEW_USED_UP"

func TestMain(m *testing.M) {
	if dir := os.Getenv(usedUpEnv); dir != "" {
		useUpForever(dir)
	}
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

var check = checktest.OK
