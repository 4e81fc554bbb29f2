package process

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Caller is the program that called this hook: clients start hooks in sessions of their
// own, so it is the parent of the session's leader. It is empty where this process, or the
// shell before it, leads none: then nobody can tell.
func Caller() Identity {
	leader, err := unix.Getsid(0)
	if err != nil || leader != os.Getpid() && leader != os.Getppid() {
		return Identity{}
	}
	parent := os.Getppid()
	if leader != os.Getpid() {
		parent = parentOf(leader)
	}
	start := StartTime(parent)
	if parent <= 1 || start == "" {
		return Identity{}
	}
	return Identity{PID: parent, Start: start, Boot: BootID()}
}

// parentOf is 0 where it is not known. The name in a stat line may hold anything, so
// counting starts behind it: state, then the parent.
func parentOf(pid int) int {
	stat, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1]) // 0 where it is none
	return parent
}
