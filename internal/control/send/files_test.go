package send

import (
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), mode))
}

var (
	readFile = checktest.Read
	exists   = checktest.Exists
)
