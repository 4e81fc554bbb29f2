package fleet

import (
	"testing"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func([]string) error{"log": printLog})
}
