//go:build unix

package world

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// janitor is a process that waits for our end, however that comes, and then ends and removes what is left of a
// world.
type janitor struct {
	cmd  *exec.Cmd
	word io.WriteCloser
}

// clean is what it does. A word means that the world was closed in good order.
const clean = `
trap '' INT TERM HUP
read -r word
for round in 1 2 3; do
	[ "$word" = "" ] || break
	for file in /proc/[0-9]*/environ; do
		pid=${file#/proc/}
		tr '\0' '\n' <"$file" | grep -qxF "$1" && kill -9 "${pid%/environ}"
	done 2>/dev/null
	sleep 0.2
done
while read -r _ at _; do
	case $at in "$2"/*) umount -l "$at" ;; esac
done </proc/mounts
[ "$word" = keep ] || rm -rf "$2"
`

// employ starts a janitor for a directory.
func employ(dir, mark string) (*janitor, error) {
	cmd := exec.Command("sh", "-c", clean, "janitor", mark, dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what interrupts us does not reach it
	word, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &janitor{cmd, word}, cmd.Start()
}

// dismiss tells it that only the directory is left, which is to be removed or kept, and waits for that.
func (j *janitor) dismiss(word string) error {
	_, err := fmt.Fprintln(j.word, word)
	return errors.Join(err, j.word.Close(), j.cmd.Wait())
}
