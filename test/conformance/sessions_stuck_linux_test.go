package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// The watcher is brought back by tmux when every process of ours is killed, and no hook comes: the
// queue goes on within a minute.
func TestP3EveryProcessIsKilled(t *testing.T) {
	s := newStage(t, nil)
	guarded := s.noteGuards()
	p := s.open(wardenMain)
	p.Show(looks{Box: "half a thought"})
	s.create(wardenMain, "/gsd:a")
	eventually(t, "tmux is told to start another watcher", func() bool { return exists(guarded) })
	s.killAll()

	p.Show(looks{}) // the person has cleared it with Ctrl-C
	p.work(1)
	s.wantLetters("queue_complete")
	p.wantTyped("/gsd:a")
}

// noteGuards has a file made when tmux is told to start something later.
func (s *stage) noteGuards() (path string) {
	s.t.Helper()
	path = filepath.Join(s.dir, "guarded")
	bin := filepath.Join(s.dir, "bin")
	check(s.t, os.Mkdir(bin, 0o700))
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *run-shell*) %[1]s \"$@\" && touch '%[2]s'; exit ;; esac\nexec %[1]s \"$@\"\n", environtest.Need(s.t, "tmux"), path)
	check(s.t, os.WriteFile(filepath.Join(bin, "tmux"), []byte(script), 0o700))
	for i, entry := range s.env {
		if rest, is := bytes.CutPrefix([]byte(entry), []byte("PATH=")); is {
			s.env[i] = "PATH=" + bin + ":" + string(rest)
		}
	}
	return path
}

// killAll kills every process that is stopgate on this machine.
func (s *stage) killAll() {
	s.t.Helper()
	killed := 0
	for _, pid := range processtest.Having("HOME=" + s.dir + "\x00") {
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if program == stopgate && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		s.t.Error("nothing watched over the queue")
	}
}
