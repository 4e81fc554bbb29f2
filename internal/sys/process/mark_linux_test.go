package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// What made itself a session of its own, or a daemon, ends too when the command
// has to be ended.
func TestWhatLeftTheGroupDies(t *testing.T) {
	scripts := map[string]string{
		"a session of its own": `setsid sh -c 'echo $$ >a; exec sleep 600' & `,
		"a daemon":             `(setsid sh -c '(echo $$ >a; exec sleep 600) &' &) ; `,
		"a command of its own": `STOPGATE_COMMAND=$STOPGATE_COMMAND/inner setsid sh -c 'echo $$ >a; exec sleep 600' & `,
	}
	for what, script := range scripts {
		t.Run(what, func(t *testing.T) {
			c := shell(t, script+`while ! test -s a; do :; done; touch started; sleep 600`)
			Run(cancelWhen(t, filepath.Join(c.Dir, "started")), c)
			wantDead(t, pid(t, filepath.Join(c.Dir, "a")))
		})
	}
}

// Who ends something is free to start it anew. The kernel frees the memory of a large one before its ports and locks.
func TestWhatWasEndedHoldsNothing(t *testing.T) {
	const mark, rounds = markVariable + "large", 10 // it may be quick
	for how, end := range map[string]func(){"by its mark": func() { EndMarked(mark) }, "as an orphan": EndOrphans} {
		for range rounds {
			large := startLarge(t, mark)
			end()
			if alive(large.Process.Pid) {
				t.Errorf("%s: it has not ended", how)
			}
			_ = large.Wait() // it was killed
		}
	}
}

// startLarge starts a process with much memory, in a session of its own.
func startLarge(t *testing.T, mark string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	large := exec.Command(self)
	large.Env, large.SysProcAttr = append(os.Environ(), largeEnv+"=yes", mark), &syscall.SysProcAttr{Setsid: true}
	ready, err := large.StdoutPipe()
	check(t, err)
	check(t, large.Start())
	t.Cleanup(func() { _ = large.Process.Kill() })
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return large
}

// What has ended and was not waited for is nothing that could be ended once more.
func TestWhatHasEndedIsNotListed(t *testing.T) {
	lists := func(pid int) bool {
		return slices.ContainsFunc(processes(), func(p status) bool { return p.pid == pid })
	}
	child := exec.Command("sleep", "600")
	check(t, child.Start())
	if !lists(child.Process.Pid) {
		t.Error("it runs, and is not listed")
	}
	check(t, child.Process.Kill())
	wantDead(t, child.Process.Pid)
	if lists(child.Process.Pid) {
		t.Error("it has ended, and is listed")
	}
	_ = child.Wait() // it was killed
}

// Another command with a mark of its own goes on.
func TestOthersLive(t *testing.T) {
	bystander := make(chan Result, 1)
	c := shell(t, `touch started; while ! test -e end; do sleep 0.01; done`)
	go func() { bystander <- Run(t.Context(), c) }()
	eventually(t, "the bystander runs", func() bool {
		_, err := os.Stat(filepath.Join(c.Dir, "started"))
		return err == nil
	})
	ended := shell(t, "sleep 600")
	ended.Timeout = time.Millisecond
	run(t, ended)
	check(t, os.WriteFile(filepath.Join(c.Dir, "end"), nil, 0o600))
	if r := <-bystander; !r.OK() {
		t.Errorf("the bystander: %+v", r)
	}
}

// The mark of a command is that of what it started, and not of another one whose mark begins like it.
func TestAMarkIsNotTheBeginningOfAnother(t *testing.T) {
	mark := markVariable + "a-1"
	for entry, want := range map[string]bool{
		mark: true, mark + "/b-2": true, mark + "2": false, mark + "2/b-2": false, markVariable + "b-2/a-1": false, "X" + mark: false,
	} {
		if got := marked([]byte("A=1\x00"+entry+"\x00B=2\x00"), mark); got != want {
			t.Errorf("%s: %t", entry, got)
		}
	}
}
