//go:build unix

package driver

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

const (
	// standInEnv makes the test binary a client in a pane; its value is the socket at
	// which the test listens.
	standInEnv = "STOPGATE_STAND_IN"
	// typistEnv makes it a process that delivers the active command of that session.
	typistEnv = "STOPGATE_TYPIST"
)

func TestMain(m *testing.M) {
	run := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if socket := os.Getenv(standInEnv); socket != "" {
		run(standIn(socket))
	}
	if session := os.Getenv(typistEnv); session != "" {
		run(deliverAlone(session))
	}
	environtest.Clean()
	goleak.VerifyTestMain(m)
}
