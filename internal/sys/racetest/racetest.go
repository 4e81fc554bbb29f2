// Package racetest keeps long tests away from the race detector where it has nothing to find: those that work in one
// goroutine, or in child processes that do. Under it they take ten times as long.
package racetest

import "testing"

// Skip is the first line of such a test. make unit runs it without the detector, and all others under it.
func Skip(t *testing.T) {
	t.Helper()
	if enabled {
		t.Skip("make unit runs this without the race detector")
	}
}
