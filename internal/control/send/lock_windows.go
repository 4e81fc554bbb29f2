package send

import (
	"os"
	"os/exec"
)

// inherit does nothing: no lock outlives its process here.
func inherit(*exec.Cmd, *os.File) {}

func tryLock(*os.File) bool { return true }
