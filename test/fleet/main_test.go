package fleet

import (
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}
