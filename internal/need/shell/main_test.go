package shell

import (
	"testing"

	"github.com/stopgate/stopgate/internal/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}
