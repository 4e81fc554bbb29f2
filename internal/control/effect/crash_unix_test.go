//go:build unix

package effect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() { children["daemon"] = standIn }

// standIn is a daemon with one owner, whose effects are given. What is reported becomes a
// line of a file, which is all that the next one knows. It is killed at a moment that is
// given by number, and ends when nothing is left to do.
func standIn(args []string) error {
	moment, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	d := &diary{path: filepath.Join(args[0], "diary"), left: moment, over: make(chan struct{})}
	o, err := d.replay(args[0])
	if err != nil {
		return err
	}
	if len(o.Effects) == 0 && o.Shell == nil {
		fmt.Println("over")
		return nil
	}
	d.owner = o
	e := errandsOf(self, args[0])
	d.worker = New(Options{
		Shells: e.Shells(), Agents: mortalAgents{e.Agents(), d}, Notifier: mortalNotifier{filepath.Join(args[0], "told"), d},
		Report: d.report, Now: time.Now, Trouble: func(_ string, err error) { fmt.Fprintln(os.Stderr, "trouble:", err) },
	})
	d.worker.Reattach([]*engine.Owner{o})
	<-d.over
	fmt.Println("over")
	return nil
}

const theAgent = "0b5e7b5c-5a0d-5f3a-9b1e-2f6d1c8e4a77"

// The owner has to do every kind of effect, the second half when the first is done.
func firstHalf(dir string) []engine.OpenEffect {
	return []engine.OpenEffect{
		fresh(engine.Effect{Key: "o-1", Kind: engine.StartAgent, Agent: &engine.AgentStart{
			ID: theAgent, Name: "worker", Run: "echo x >> agent-ran; sleep 1000", Cwd: dir, AtMost: 1,
		}}),
		fresh(engine.Effect{Key: "o-2", Kind: engine.NotifyPerson, Text: "hello"}),
		fresh(engine.Effect{Key: "o-3", Kind: engine.SendAgent, Target: theAgent, Text: "go on\n"}),
	}
}

func secondHalf(dir string) []engine.OpenEffect {
	return []engine.OpenEffect{
		fresh(engine.Effect{Key: "o-4", Kind: engine.KillAgent, Target: theAgent}),
		fresh(engine.Effect{Key: "o-5", Kind: engine.StartShell, Shell: &engine.ShellStart{Script: "echo x >> shell-ran; exit 7", Cwd: dir}}),
	}
}

// diary is what is durable.
type diary struct {
	path   string
	worker *Worker
	mu     sync.Mutex
	owner  *engine.Owner
	left   int // moments that are left
	over   chan struct{}
}

// moment is one at which the daemon may be killed.
func (d *diary) moment() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left--; d.left < 0 {
		panic(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
}

type entry struct{ Word, Key string }

func entryOf(what engine.Happening) entry {
	word, rest, _ := strings.Cut(account(what), " ")
	key, _, _ := strings.Cut(rest, " ")
	return entry{word, strings.TrimSuffix(key, ":")}
}

func (d *diary) replay(dir string) (*engine.Owner, error) {
	o := &engine.Owner{ID: "o", Project: "/p", Cwd: dir, Effects: firstHalf(dir)}
	o.Agent = &engine.Agent{ID: theAgent, Name: "worker"}
	text, err := os.ReadFile(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, err
		}
		apply(o, e)
	}
	return o, nil
}

func apply(o *engine.Owner, e entry) {
	i := slices.IndexFunc(o.Effects, func(open engine.OpenEffect) bool { return open.Key == e.Key })
	switch {
	case e.Word == "started":
		o.Effects[i].Started = true
	case e.Word == "exited" && e.Key == theAgent:
		o.Agent = nil
	case e.Word == "exited":
		o.Shell = nil
	case i >= 0:
		o.Effects = slices.Delete(o.Effects, i, i+1)
		if e.Key == "o-3" {
			o.Effects = append(o.Effects, secondHalf(o.Cwd)...)
			o.Shell = &engine.Shell{Key: "o-5"}
		}
	}
}

func (d *diary) report(_ context.Context, _ string, in engine.Input) error {
	d.moment()
	d.mu.Lock()
	text, err := json.Marshal(entryOf(in.What))
	if err == nil {
		err = appendLine(d.path, string(text))
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	o := *d.owner
	o.Effects = slices.Clone(o.Effects)
	o.Version++
	apply(&o, entryOf(in.What))
	d.owner = &o
	if len(o.Effects) == 0 && o.Shell == nil && entryOf(in.What).Key != theAgent {
		close(d.over)
	}
	d.mu.Unlock()
	d.moment()
	d.worker.Wake(&o)
	return nil
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	return err
}

type mortalNotifier struct {
	told string
	*diary
}

func (m mortalNotifier) Held(*engine.Owner) time.Duration { return 0 }

func (m mortalNotifier) Notify(context.Context, *engine.Owner, engine.Effect) error {
	defer m.moment()
	return appendLine(m.told, "x")
}

type mortalAgents struct {
	Agents
	*diary
}

func (m mortalAgents) Send(ctx context.Context, agent, key, text string) error {
	m.moment()
	defer m.moment()
	return m.Agents.Send(ctx, agent, key, text)
}

// The daemon is killed at every moment at which it can be, and again some moments later.
// Nothing is started twice, and nothing is left out but what the rules allow.
func TestKilledAtEveryMoment(t *testing.T) {
	for moment := range 28 {
		t.Run(strconv.Itoa(moment), func(t *testing.T) {
			dir := t.TempDir()
			t.Cleanup(func() { check(t, newErrands(t, dir).Agents().Kill(context.Background(), theAgent)) })
			for _, moments := range []int{moment, 1 + moment%4, 1000} {
				daemon := processtest.Child(t, "daemon", dir, strconv.Itoa(moments))
				daemon.Env = append(daemon.Env, "GORACE=atexit_sleep_ms=0")
				out, err := daemon.Output()
				var ended *exec.ExitError
				if err != nil && !errors.As(err, &ended) || moments == 1000 && string(out) != "over\n" {
					t.Fatalf("%s, %v", out, err)
				}
			}
			examine(t, dir)
		})
	}
}

func examine(t *testing.T, dir string) {
	t.Helper()
	times := map[string]int{}
	for line := range strings.Lines(content(t, filepath.Join(dir, "diary"))) {
		var e entry
		check(t, json.Unmarshal([]byte(line), &e))
		times[e.Word+" "+e.Key]++
	}
	lines := func(name string) int {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.Count(string(text), "\n")
	}
	sent := lines("agents/" + theAgent + "/inbox/o-3")
	_, begun := os.Stat(filepath.Join(dir, "errands", theAgent, "begun"))
	for what, ok := range map[string]bool{
		"every effect has one end": times["done o-1"] == 1 && times["done o-2"] == 1 && times["done o-3"]+times["lost o-3"] == 1 &&
			times["done o-4"] == 1 && times["done o-5"] == 1,
		"the agent began":                begun == nil,
		"the agent ran at most once":     lines("agent-ran") <= 1, // it may be ended before its first line
		"the shell ran once":             lines("shell-ran") == 1,
		"the shell's end is known":       times["exited o-5"] == 1,
		"a person was told at most once": lines("told") <= 1,
		"a message is there if it is":    sent <= 1 && (times["done o-3"] == 1) == (sent == 1),
	} {
		if !ok {
			t.Errorf("not so: %s: %v, sent %d, told %d", what, times, sent, lines("told"))
		}
	}
}
