//go:build unix

package driver

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/standin"
)

// typistEnv makes the test binary a process that delivers the active command of that session.
const typistEnv = "STOPGATE_TYPIST"

func TestMain(m *testing.M) {
	run := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if socket := os.Getenv(standin.ActorEnv); socket != "" {
		run(standin.Act(socket, glance/2))
	}
	if session := os.Getenv(typistEnv); session != "" {
		run(deliverAlone(session))
	}
	environtest.Clean()
	goleak.VerifyTestMain(m)
}
