package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// NestedClient reports whether the client that called this hook was itself started by
// a client. It is known on Linux only; what is not known is no.
func NestedClient() bool { return nested(0) }

func nested(launched int) bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parent := os.Getppid()
	if session != os.Getpid() {
		parent = parentOf("/proc", session)
	}
	return startedInside("/proc", parent, launched)
}

// startedInside reports whether the client, which is the parent of a hook's session
// (the client starts hooks in sessions of their own), was itself started by a
// client: then it has the variable that clients give to what they start.
func startedInside(proc string, client, launched int) bool {
	if client <= 1 || client == launched {
		return false
	}
	environ, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(client), "environ"))
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.HasPrefix(entry, []byte("CLAUDECODE=")) {
			return true
		}
	}
	return false
}

// parentOf is 0 where it is not known. The name in a stat line may hold anything, so
// counting starts behind it: state, then the parent.
func parentOf(proc string, pid int) int {
	stat, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
