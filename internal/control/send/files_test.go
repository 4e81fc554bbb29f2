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

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

var exists = checktest.Exists
