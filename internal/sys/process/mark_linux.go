package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// EndMarked ends every process that carries the mark, an entry such as
// "NAME=value", in its environment, wherever it went: one that made itself a
// session of its own is in no group that we know. It looks again until a look
// finds nothing, because what it kills may have been starting something.
func EndMarked(mark string) {
	const looks = 100 // against something that forks faster than we look
	for range looks {
		if !killOnce(mark) {
			return
		}
	}
}

func killOnce(mark string) (found bool) {
	for _, pid := range pids() {
		if pid == os.Getpid() {
			continue
		}
		// A process that has ended and was not waited for has an empty environment.
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && marked(text, mark) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			found = true
		}
	}
	return found
}

func marked(environ []byte, mark string) bool {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if rest, found := bytes.CutPrefix(entry, []byte(mark)); found && (len(rest) == 0 || rest[0] == '/') {
			return true
		}
	}
	return false
}
