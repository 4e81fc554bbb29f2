// Package environtest gives tests the same surroundings on every machine.
package environtest

import (
	"os"
	"os/exec"
	"strings"
)

// NoHome is the home directory of tests that have none of their own. There is nothing in it, and
// not even root can put something there.
const NoHome = "/proc/no-home"

// fixed are the variables that have the same value everywhere.
var fixed = map[string]string{"HOME": NoHome, "LANG": "C.UTF-8", "SHELL": "/bin/sh", "TZ": "UTC"}

// Clean is called by every TestMain, but not by the children that a test binary may be. After it
// nothing of whoever runs the tests decides what they see: no variable beside those that we keep,
// no home, no other umask, no signal that a nohup has the children ignore. It does not go back.
func Clean() {
	builds := buildVariables()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !kept(name) {
			set(os.Unsetenv(name))
		}
	}

	for name, value := range builds {
		set(os.Setenv(name, value))
	}
	for name, value := range fixed {
		set(os.Setenv(name, value))
	}
	cleanProcess()
}

// kept reports whether a variable stays: what finds programs, what Go reads, what Windows cannot do
// without, and the switches of the tests themselves. TMPDIR goes, as the path of a socket must be
// short.
func kept(name string) bool {
	switch name {
	case "PATH", "CC", "CGO_ENABLED",
		"COMSPEC", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP",
		"CHAOS_CLIENT", "CLAUDE_BIN", "STOPGATE_FULL", "STOPGATE_ROUNDS", "STOPGATE_SEED", "STOPGATE_TESTS", "UPDATE_SCRIPTS":
		return true
	}
	return strings.HasPrefix(name, "GO")
}

// buildVariables let tests build programs although their home is another: the caches stay where
// they are. Nobody asks the programs for their commit, and git may not want to tell it.
func buildVariables() map[string]string {
	names := []string{"GOCACHE", "GOENV", "GOMODCACHE", "GOPATH", "GOFLAGS"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	values := strings.Split(string(out), "\n")
	if err != nil || len(values) <= len(names) {
		return nil // a test that builds says why it cannot
	}

	variables := map[string]string{}
	for i, name := range names {
		variables[name] = values[i]
	}
	variables["GOFLAGS"] += " -buildvcs=false"
	return variables
}

func set(err error) {
	if err != nil {
		panic(err)
	}
}
