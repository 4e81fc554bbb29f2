package errand

import (
	"os"
	"os/exec"
	"strconv"
)

// askGroup has no gentle form here.
func askGroup(pid int) error { return killGroup(pid) }

// killGroup ends the process and all its descendants.
func killGroup(pid int) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}

// groupLives is not known: once the command itself has ended, Windows no longer tells
// which processes it started.
func groupLives(int) bool { return false }

// askRunner has no gentle form either, so it ends what the runner has started as well.
func askRunner(p *os.Process) error { return killGroup(p.Pid) }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
