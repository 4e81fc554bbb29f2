package migrate

import (
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == killed {
		beKilled(os.Args[2:])
	}
	environtest.Clean()
	m.Run()
}
