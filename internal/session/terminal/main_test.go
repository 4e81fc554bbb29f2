package terminal

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	if socket := os.Getenv("TERMINAL_RECORDER"); socket != "" {
		os.Exit(record(socket))
	}
	environtest.Clean()
	goleak.VerifyTestMain(m)
}
