//go:build unix

package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/test/chaos/books"
	"github.com/stopgate/stopgate/test/chaos/ran"
)

// audit compares what the store tells with what took place.
type audit struct {
	*testing.T
	place
	*books.Books
	kills []kill
	ran   []ran.Line
	table []row
}

// row is a kind of effect: how many were to be carried out, and how many were so often.
type row struct {
	what              string
	decided           int
	once, more, never int
	doubt             int // the daemon was killed between its start and its end
	other             int // cancelled before it ran, or a person was asked whether to do it again
}

func newAudit(t *testing.T, k *keeper) *audit {
	t.Helper()
	k.awaitQuiet(t)
	return &audit{T: t, place: k.place, Books: k.books(t), kills: k.kills, ran: k.ran(t)}
}

// awaitQuiet waits for the end of everything that was started: nothing may be left. Only
// what tells people is not waited for by the daemon.
func (p place) awaitQuiet(t *testing.T) {
	t.Helper()
	left := p.processes()
	for end := time.Now().Add(3 * time.Minute); len(left) > 0 && time.Now().Before(end); left = p.processes() {
		time.Sleep(20 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("left running:\n%s", strings.Join(left, "\n"))
	}
}

// inDoubt reports whether the daemon was killed while it carried the effect out.
func (a *audit) inDoubt(e *books.Act) bool {
	return !e.Started.IsZero() && slices.ContainsFunc(a.kills, func(k kill) bool {
		return e.Started.Before(k.at) && k.at.Before(e.Ended)
	})
}

// count counts what the stand-ins wrote down.
func (a *audit) count(what string, by func(ran.Line) string) map[string]int {
	n := map[string]int{}
	for _, l := range a.ran {
		if l.What == what {
			n[by(l)]++
		}
	}
	return n
}

func (a *audit) of(kinds ...engine.EffectKind) (acts []*books.Act) {
	for _, e := range a.Acts {
		if slices.Contains(kinds, e.Kind) {
			acts = append(acts, e)
		}
	}
	return acts
}

// enter counts an effect that was carried out so often.
func (r *row) enter(times int) {
	switch times {
	case 0:
		r.never++
	case 1:
		r.once++
	default:
		r.more++
	}
}

// ends checks that every effect came to one end.
func (a *audit) ends() {
	for key, e := range a.Acts {
		if e.Ends != 1 || e.End == "failed" {
			a.Errorf("effect %s (%s) came to %d ends, %q", key, e.Kind, e.Ends, e.End)
		}
	}
}

// starts checks that every command and agent that was to be started ran exactly once.
func (a *audit) starts(what string, kind engine.EffectKind, mayMiss func(*books.Act) bool) {
	r := row{what: what}
	begun := a.count("begun", func(l ran.Line) string { return l.Key })
	for _, e := range a.of(kind) {
		n := begun[e.Errand()]
		r.decided++
		if a.inDoubt(e) {
			r.doubt++
		}
		if n == 0 && (e.End == "dropped" || mayMiss(e)) {
			r.other++
			continue
		}
		r.enter(n)
		if n != 1 || e.End != "done" {
			a.Errorf("%s %s: %s, ran %d times", what, e.Errand(), e.End, n)
		}
	}
	a.table = append(a.table, r)
}

// families checks that every branch, item and pipeline that was to be started as a step is there once,
// and has ended.
func (a *audit) families() {
	r := row{what: "branches, items and pipelines as steps"}
	for _, e := range a.of(engine.StartChild) {
		c := a.Children[e.Target]
		r.decided++
		if a.inDoubt(e) {
			r.doubt++
		}
		if c == nil && e.End == "dropped" {
			r.other++
			continue
		}
		if c == nil {
			c = &books.Child{}
		}
		if r.enter(c.Created); c.Created != 1 || c.Ended != 1 {
			a.Errorf("child %s was created %d times, and ended %d times", e.Target, c.Created, c.Ended)
		}
		delete(a.Children, e.Target)
	}
	for id := range a.Children {
		a.Errorf("nobody started the child %s", id)
	}
	a.table = append(a.table, r)
}

// strangers checks that nothing ran that was not to be started, and no two at once.
func (a *audit) strangers() {
	known := map[string]bool{}
	for _, e := range a.of(engine.StartShell, engine.StartAgent) {
		known[e.Errand()] = true
	}
	for _, l := range a.ran {
		switch {
		case l.What == "begun" && !known[l.Key]:
			a.Errorf("nobody started %+v", l)
		case l.What == "together", l.What == "crowded", l.What == "refused":
			a.Errorf("%+v", l)
		}
	}
}

// sends checks that every message that counts as sent was sent once, and no other.
func (a *audit) sends() {
	r := row{what: "messages to agents"}
	files, err := filepath.Glob(filepath.Join(a.state, "agents", "*", "inbox", "*"))
	check(a.T, err)
	there := map[string]int{}
	for _, file := range files {
		if name := filepath.Base(file); !strings.HasPrefix(name, ".") { // one that was never finished
			there[name]++
		}
	}
	for _, e := range a.of(engine.SendAgent) {
		n := there[e.Key]
		delete(there, e.Key)
		r.decided++
		if a.inDoubt(e) {
			r.doubt++
			if n == 0 && e.End == "lost" { // and a person was asked
				r.other++
				continue
			}
		}
		r.enter(n)
		if n != 1 || e.End != "done" {
			a.Errorf("message %s: %s, %d times in the inbox", e.Key, e.End, n)
		}
	}
	for key, n := range there {
		a.Errorf("nobody sent message %s (%d)", key, n)
	}
	a.table = append(a.table, r)
}

// notes checks that people were told everything once, or not at all where the daemon was
// killed just then.
func (a *audit) notes() {
	r := row{what: "notifications"}
	told := a.count("told", func(l ran.Line) string { // without how to answer, and where
		lines := strings.Split(l.Text, "\n")
		return strings.Join(lines[:min(len(lines), 2)], "\n")
	})
	decided, doubt := map[string]int{}, map[string]int{}
	for _, e := range a.of(engine.NotifyPerson) {
		if e.End == "dropped" { // it was answered before anybody was told
			r.decided++
			r.other++
			continue
		}
		message := e.Title + "\n" + e.Text
		decided[message]++
		if a.inDoubt(e) {
			doubt[message]++
			r.doubt++
		}
	}
	for message, n := range decided {
		r.decided += n
		r.once += min(n, told[message])
		r.never += max(n-told[message], 0)
		r.more += max(told[message]-n, 0)
		if told[message] > n || told[message] < n-doubt[message] {
			a.Errorf("%q: to be told %d times, told %d times, in doubt %d", message, n, told[message], doubt[message])
		}
		delete(told, message)
	}
	for message, n := range told {
		a.Errorf("nobody wanted to tell %q (%d)", message, n)
	}
	a.table = append(a.table, r)
}

// quiet adds effects that leave no trace which could be counted.
func (a *audit) quiet(what string, kinds ...engine.EffectKind) {
	r := row{what: what}
	for _, e := range a.of(kinds...) {
		r.decided++
		if a.inDoubt(e) {
			r.doubt++
		}
	}
	a.table = append(a.table, r)
}

// emits checks that everything that agents said and that was acknowledged is in the
// store, once.
func (a *audit) emits() {
	r := row{what: "acknowledged words of agents"}
	said := a.count("emitted", func(l ran.Line) string {
		if l.Event == "agent:prompt" {
			return l.Event + " " + l.Key
		}
		return l.Event + " " + l.Text
	})
	for word, n := range said {
		r.decided += n
		r.enter(a.Words[word])
		if a.Words[word] != n {
			a.Errorf("%q was acknowledged %d times and is %d times in the store", word, n, a.Words[word])
		}
	}
	for word, n := range a.Words {
		if n > 1 {
			a.Errorf("%q is %d times in the store", word, n)
		}
	}
	a.table = append(a.table, r)
}

// leftovers checks that nothing is left of the daemon and of what it started.
func (a *audit) leftovers() {
	for _, dir := range a.errands(a.T) {
		if errand.Runs(dir) {
			a.Errorf("%s is still locked", dir)
		}
	}
	if _, err := os.Lstat(filepath.Join(a.state, "daemon.sock")); !errors.Is(err, os.ErrNotExist) {
		a.Errorf("the socket is still there: %v", err)
	}
	cmd := exec.Command(filepath.Join(a.bin, "stopgate"), "log", "verify")
	cmd.Env = a.env
	if out, err := cmd.CombinedOutput(); err != nil {
		a.Errorf("%v: %v\n%s", cmd, err, out)
	}
	log, err := os.ReadFile(filepath.Join(a.state, "logs", "daemon.log"))
	check(a.T, err)
	for text := range bytes.Lines(log) {
		if bytes.Contains(text, []byte("level=ERROR")) || bytes.Contains(text, []byte("panic")) {
			a.Errorf("the daemon's log: %s", text)
		}
	}
}

// all is the whole audit.
func (a *audit) all() {
	a.ends()
	a.starts("commands of steps and gates", engine.StartShell, func(e *books.Act) bool { return e.Killed })
	a.starts("agents", engine.StartAgent, func(*books.Act) bool { return false })
	a.strangers()
	a.sends()
	a.notes()
	a.quiet("ends of commands and agents", engine.KillShell, engine.KillAgent)
	a.quiet("workspaces, made", engine.MakeWorkspace)
	a.quiet("workspaces, removed", engine.RemoveWorkspace)
	a.families()
	a.quiet("what children and parents tell each other", engine.CancelChild, engine.ReportToParent)
	a.emits()
	a.leftovers()
}

// print prints the table.
func (a *audit) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tdecided\tonce\ttwice\tnever\tkilled meanwhile\tcancelled or asked")
	for _, r := range a.table {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", r.what, r.decided, r.once, r.more, r.never, r.doubt, r.other)
	}
	w.Flush()
}
