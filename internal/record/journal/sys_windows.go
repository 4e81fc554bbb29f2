package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// A handle opened for appending has no right to truncate here.
func truncate(f *os.File, size int64) error { return os.Truncate(f.Name(), size) }

func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// findHolder has no program to name that every Windows has.
func findHolder(string) string { return "end the stopgate that hangs, in the Task Manager" }
