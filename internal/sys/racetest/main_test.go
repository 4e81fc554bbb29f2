package racetest

import (
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}
