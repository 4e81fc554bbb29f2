//go:build unix

package wake

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["put"] = childPut
	children["send"] = childSend
	children["fill"] = childFill
	children["nobody"] = childNobody
	children["list"] = childList
}

// childPut puts the letters from a number on, and says after each that it is put.
func childPut(args []string) error {
	from, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := from; ; i++ {
		if err := (Outbox{Dir: args[0]}).Put(letter("agent", fmt.Sprintf("n%d", i))); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// childSend delivers whatever waits to a gateway, which is a file of one line for each
// delivery, and says after each that it is sent.
func childSend(args []string) error {
	b := Outbox{Dir: args[0]}.Box("agent")
	release, err := b.Hold()
	if err != nil {
		return err
	}
	defer release()
	gateway, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer gateway.Close()
	for {
		l, ok, err := b.Next()
		if err != nil {
			return err
		}
		if !ok {
			continue // the test kills it
		}
		if err := b.Tried(l, errors.New("not yet"), time.Unix(0, 0), time.Unix(0, 0)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(gateway, l.Key); err != nil {
			return err
		}
		if err := b.Sent(l); err != nil {
			return err
		}
		fmt.Println(l.Key)
	}
}

// rounds is how many are killed, each at another place.
const rounds = 8

// Whoever is killed while putting tries the same news again.
func TestKilledPuttersLoseNothing(t *testing.T) {
	o := newOutbox(t)
	told := 0
	for round := range rounds {
		said := processtest.Kill(t, round, 4*time.Millisecond, "put", o.Dir, fmt.Sprint(told+1))
		var err error
		told, err = strconv.Atoi(said[len(said)-1])
		check(t, err)
	}
	keys := drain(t, o.Box("agent"))
	if len(keys) < told || len(keys) > told+1 {
		t.Errorf("%d letters, %d were told", len(keys), told)
	}
	for i, key := range keys {
		if want := fmt.Sprintf("n%d", i+1); key != want {
			t.Fatalf("%s is where %s should be", key, want)
		}
	}
}

// Senders are killed while others put. What the gateway got twice it got under one key,
// with nothing in between.
func TestKilledSendersLoseNothing(t *testing.T) {
	o := newOutbox(t)
	gateway := filepath.Join(t.TempDir(), "gateway")
	const letters = 150
	put := make(chan error, 1)
	go func() {
		for i := range letters {
			if err := o.Put(letter("agent", fmt.Sprintf("n%d", i))); err != nil {
				put <- err
				return
			}
		}
		put <- nil
	}()
	for round := range rounds {
		processtest.Kill(t, round, 4*time.Millisecond, "send", o.Dir, gateway)
	}
	check(t, <-put)
	rest := drain(t, o.Box("agent"))
	text, err := os.ReadFile(gateway)
	check(t, err)
	delivered := append(strings.Fields(string(text)), rest...)
	at := 0
	for i, key := range delivered {
		switch {
		case key == fmt.Sprintf("n%d", at):
			at++
		case i == 0 || key != delivered[i-1]:
			t.Fatalf("%s came after %d letters", key, at)
		}
	}
	if at != letters {
		t.Errorf("%d letters arrived", at)
	}
	if len(strings.Fields(string(text))) < rounds {
		t.Error("the senders sent next to nothing")
	}
}

// A limit on the size of files fails like a full disk.
func TestFullDiskIsAClearErrorAndChangesNothing(t *testing.T) {
	o := newOutbox(t)
	put(t, o, "agent", "a")
	out, err := processtest.Child(t, "fill", o.Dir).Output()
	check(t, err)
	if text := string(out); !strings.Contains(text, `cannot store a message for agent "agent": `) || !strings.Contains(text, "file too large") {
		t.Errorf("said %s", text)
	}
	entries, err := os.ReadDir(o.Box("agent").dir)
	check(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	same(t, []string{"000000000001-a.json", "lock"}, names)
	put(t, o, "agent", "big")
	same(t, []string{"a", "big"}, drain(t, o.Box("agent")))
}

func childFill(args []string) error {
	if err := processtest.LimitFiles(2000); err != nil {
		return err
	}
	l := letter("agent", "big")
	l.Body = strings.Repeat("x", 4000)
	if err := (Outbox{Dir: args[0]}).Put(l); err != nil {
		fmt.Println(err)
		return nil
	}
	return errors.New("it was put")
}

func TestReadOnlyDirectory(t *testing.T) {
	o := newOutbox(t)
	put(t, o, "agent", "a")
	b := o.Box("agent")
	for _, dir := range []string{b.dir, o.Dir} {
		check(t, os.Chmod(dir, 0o555))
		t.Cleanup(func() { check(t, os.Chmod(dir, 0o700)) })
	}
	check(t, os.Chmod(b.path("lock"), 0o666))
	out, err := processtest.Child(t, "nobody", o.Dir).Output()
	check(t, err)
	if text := string(out); strings.Count(text, "permission denied") != 3 || !strings.Contains(text, "waiting true\n") {
		t.Errorf("said %s", text)
	}
	same(t, []string{"a"}, waiting(t, b))
}

// childNobody tries everything as a user who may write nothing: root may write
// everywhere.
func childNobody(args []string) error {
	if err := processtest.BecomeNobody(args[0]); err != nil {
		return err
	}
	o := Outbox{Dir: args[0]}
	fmt.Println("waiting", o.Waiting())
	fmt.Println(o.Put(letter("agent", "b")))
	fmt.Println(o.Put(letter("fresh", "b")))
	fmt.Println(o.Box("agent").Sent(letter("agent", "a")))
	return nil
}

// A box that cannot be read does not hide the others.
func TestUnreadableBox(t *testing.T) {
	o := newOutbox(t)
	for _, agentID := range []string{"one", "three", "two"} {
		put(t, o, agentID, "a")
		check(t, os.Chmod(o.Box(agentID).dir, 0o755))
	}
	two := o.Box("two").dir
	check(t, os.Chmod(two, 0))
	t.Cleanup(func() { check(t, os.Chmod(two, 0o700)) })
	check(t, os.Chmod(o.Dir, 0o755))
	out, err := processtest.Child(t, "list", o.Dir).Output()
	check(t, err)
	same(t, "[one three] true\none\nthree\ntrue\n", string(out))
}

// childList says what it sees of an outbox, and whether there is an error beside it.
func childList(args []string) error {
	if err := processtest.BecomeNobody(args[0]); err != nil {
		return err
	}
	o := Outbox{Dir: args[0]}
	agentIDs, err := o.AgentIDs()
	fmt.Println(agentIDs, errors.Is(err, fs.ErrPermission))
	summary, err := o.Summary()
	for _, s := range summary {
		fmt.Println(s.AgentID)
	}
	fmt.Println(errors.Is(err, fs.ErrPermission))
	return nil
}

func TestModes(t *testing.T) {
	o := newOutbox(t)
	b := o.Box(strings.Repeat("long", 100))
	put(t, o, b.agentID, "a", "b", "c")
	check(t, b.Sent(next(t, b)))
	l := next(t, b)
	check(t, b.Tried(l, errors.New("x"), time.Now(), time.Now()))
	check(t, b.Kill(l, "x"))
	l = next(t, b)
	check(t, b.Tried(l, errors.New("x"), time.Now(), time.Now()))
	files := 0
	check(t, filepath.Walk(filepath.Dir(o.Dir), func(path string, info os.FileInfo, err error) error {
		check(t, err)
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return nil
	}))
	same(t, 7, files) // a letter, a dead one and why, agent, lock, sent, state
}

// A pipe in the place of a letter must not stop the sender, nor one in the place of a
// prompt a hook.
func TestPipes(t *testing.T) {
	o := newOutbox(t)
	put(t, o, "agent", "a", "b")
	b := o.Box("agent")
	path := pathOf(t, b, letter("agent", "a"))
	check(t, os.Remove(path))
	check(t, syscall.Mkfifo(path, 0o600))
	same(t, []string{"b"}, drain(t, b))

	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "prompts"), 0o700))
	check(t, syscall.Mkfifo(filepath.Join(dir, "prompts", "prompt_stop.md"), 0o600))
	if _, err := Instructions(dir, Stop); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}
