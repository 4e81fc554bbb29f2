package hub

import (
	"bytes"
	"os"
	"strconv"
)

// resident is how much memory this process has; 0 where the system does not tell.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64) // then it is 0
	return pages * int64(os.Getpagesize())
}
