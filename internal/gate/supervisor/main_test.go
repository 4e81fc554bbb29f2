package supervisor

import (
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// children are what the test binary is besides.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) { processtest.Main(m, children) }

var (
	check  = checktest.OK
	exists = disk.Exists
)
