//go:build unix

package conformance

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	check(t, err)
	return n
}

// defunct reports whether a process has ended and only its number is left, because
// nobody has waited for it yet.
func defunct(t *testing.T, pid string) bool {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false // not Linux, or gone
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}
