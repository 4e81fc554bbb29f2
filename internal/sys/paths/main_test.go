package paths

import (
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}
