package terminal

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv("TERMINAL_RECORDER"); socket != "" {
		os.Exit(record(socket))
	}
	goleak.VerifyTestMain(m)
}
