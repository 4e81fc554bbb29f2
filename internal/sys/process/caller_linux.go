package process

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// Caller is the program that called this hook: clients start hooks in sessions of their
// own, so it is the parent of the session's leader. It is empty where this process, or the
// shell before it, does not lead a session: then the caller is unknown.
func Caller() Identity {
	leader, err := unix.Getsid(0)
	if err != nil || leader != os.Getpid() && leader != os.Getppid() {
		return Identity{}
	}
	parent := parentOf(leader)
	start := StartTime(parent)
	if parent <= 1 || start == "" {
		return Identity{}
	}
	return Identity{PID: parent, Start: start, Boot: BootID()}
}

// CallerEnviron is the environment with which Claude Code was started that this process
// was called by, as a hook or in its shell; nil where that is not known. What Claude Code's settings
// add for what it starts is not in it. Of clients that were started one inside the other it
// is the outermost one's: the others have what an agent gave them.
func CallerEnviron() []string {
	leader, err := unix.Getsid(0)
	if err != nil {
		return nil
	}

	// A process with another environment than its session was not started by a client; our
	// tests start hooks like that.
	const session = "CLAUDE_CODE_SESSION_ID"
	if env := environOf(leader); !startedByClaude(env) || environ.Get(env, session) != os.Getenv(session) {
		return nil
	}

	claude := parentOf(leader)
	if claude <= 1 {
		return nil // it has ended, and the leader was handed on
	}
	program, err := programOf(claude)
	if err != nil {
		return nil
	}

	for below, outer := claude, parentOf(claude); outer > 1; below, outer = outer, parentOf(outer) {
		if same, err := programOf(outer); err == nil && same == program && startedByClaude(environOf(below)) {
			claude = outer
		}
	}
	return environOf(claude)
}

// NestedCaller reports whether the Claude Code that called this hook was itself started by a client, and is
// not the launched one, whose number may be 0. What is not known is no.
func NestedCaller(launched int) bool {
	leader, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	claude := parentOf(leader)
	return startedInside(claude, launched, environOf(claude))
}

// startedInside also takes an empty CLAUDECODE for a sign: an agent hides the variable that way.
func startedInside(claude, launched int, env []string) bool {
	_, marked := environ.Lookup(env, "CLAUDECODE")
	return claude > 1 && claude != launched && marked
}

func startedByClaude(env []string) bool { return environ.Get(env, "CLAUDECODE") != "" }

// environOf is the environment that a process was started with; nil where it is not ours
// to read.
func environOf(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// programOf is the file that a process runs.
func programOf(pid int) (string, error) { return os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") }

// parentOf is 0 where it is not known.
func parentOf(pid int) int {
	if pid == os.Getpid() {
		return os.Getppid()
	}
	return parentIn(readStat(pid))
}

// parentIn takes the parent out of a stat line.
func parentIn(stat []byte) int {
	fields := statFields(stat)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1]) // 0 where it is none
	return parent
}
