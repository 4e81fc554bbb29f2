// Package environtest gives tests the same surroundings on every machine.
package environtest

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// fixed are the variables that have the same value everywhere.
var fixed = map[string]string{"HOME": noHome, "LANG": "C.UTF-8", "SHELL": "/bin/sh", "TZ": "UTC"}

// Clean gives a test binary the same environment on every machine. It removes all variables but
// the ones kept, and fixes the home, the umask and the signals that nohup ignores. Every TestMain
// calls it first, except in a child process of a test. The change is permanent.
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
	if dir := os.Getenv("STOPGATE_TMP"); dir != "" {
		set(os.Setenv("TMPDIR", dir))
	}
	cleanProcess()

	// The runtime begins to watch signals at the first Notify, which must not be in a bubble of
	// testing/synctest.
	first := make(chan os.Signal, 1)
	signal.Notify(first, syscall.SIGTERM)
	signal.Stop(first)
}

// kept reports whether a variable stays: what finds programs, what Go reads, what Windows cannot do
// without, and the switches of the tests themselves. TMPDIR goes, as the path of a socket must be
// short; STOPGATE_TMP (scripts/in-memory) takes its place.
func kept(name string) bool {
	switch strings.ToUpper(name) { // Windows spells them in its own way
	case "PATH", "CC", "CGO_ENABLED",
		"COMSPEC", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP",
		"CHAOS_CLIENT", "CHAOS_FAULTS", "CHAOS_NETWORK", "CHAOS_OLDER", "CHAOS_ONLY", "CLAUDE_BIN", "STOPGATE_FULL", "STOPGATE_ROUNDS", "STOPGATE_SEED", "STOPGATE_TESTS", "STOPGATE_TMP", "UPDATE_SCRIPTS":
		return true
	}
	return strings.HasPrefix(name, "GO")
}

// buildVariables let tests run go build although HOME is another: the caches stay where they are.
// -buildvcs=false, because git may refuse to read a repository of another owner.
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
