//go:build unix

package process

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// chainEnv makes the test binary one of several processes, each of which starts the next
// with the environment that its name stands for.
const chainEnv = "STOPGATE_PROCESS_CHAIN"

// runChain is one process of a chain. The last one says what it knows.
func runChain(chain string) error {
	name, rest, more := strings.Cut(chain, ",")
	if !more {
		for _, entry := range CallerEnviron() {
			if strings.HasPrefix(entry, "OWN=") {
				_, err := os.Stdout.WriteString(entry)
				return err
			}
		}
		return nil
	}
	next, _, _ := strings.Cut(rest, ",")
	cmd := exec.Command(os.Args[0])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), chainEnv+"="+rest)
	switch {
	case strings.HasPrefix(name, "client"): // it starts all in sessions of their own, and marks them
		cmd.Env = append(cmd.Env, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+name, "OWN=settings")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case next == "client-unmarked":
		cmd.Env = withoutMark(append(cmd.Env, "OWN=agent"))
	case next == "test":
		cmd.Env = append(cmd.Env, "CLAUDE_CODE_SESSION_ID=another")
	default:
		cmd.Env = append(cmd.Env, "OWN=agent")
	}
	return cmd.Run()
}

func withoutMark(env []string) (without []string) {
	for _, entry := range env {
		if !strings.HasPrefix(entry, "CLAUDECODE=") {
			without = append(without, entry)
		}
	}
	return without
}

func TestE9EnvironmentWithWhichTheClientWasStarted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	for chain, want := range map[string]string{
		"client,hook":                            "OWN=person",
		"client,shell,hook":                      "OWN=person",
		"client,shell,shell,hook":                "OWN=person",
		"client,shell,client,hook":               "OWN=person",
		"client,shell,client-unmarked,hook":      "OWN=person",
		"client,shell,client-unmarked,shell,run": "OWN=person",
		"shell,run":                              "", // a person's
		"client,shell,test":                      "",
	} {
		cmd := exec.Command(os.Args[0])
		// A session of its own: the test's may be a client's.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = append(withoutMark(os.Environ()), chainEnv+"="+chain, "OWN=person")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil || string(out) != want {
			t.Errorf("%s: %q (%v), want %q", chain, out, err, want)
		}
	}
}
