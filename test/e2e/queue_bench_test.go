//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// driven is a bench whose clients are driven: stopgate answers their hooks, and one agent looks
// after all tmux sessions.
type driven struct {
	*bench
	Post *postbox
}

// newDriven sets one up. The agent's entry in the registry has these fields besides its gateway.
func newDriven(t testing.TB, fields ...map[string]any) *driven {
	t.Helper()
	b := newBench(t)
	b.RecordHooks("Notification", "PermissionRequest", "PreCompact")
	b.Stopgate("hooks", "install", "--yes").mustPass(t)
	d := &driven{b, newPostbox(t)}
	entry := map[string]any{
		"agent_id": "keeper", "session_name": "*",
		"gateway": map[string]any{"transport": "webhook", "url": d.Post.URL},
	}
	for _, more := range fields {
		for name, value := range more {
			entry[name] = value
		}
	}
	d.Register(entry)
	b.API.Script(claudeapi.Always(echo))
	t.Cleanup(d.waitHelpers)
	t.Cleanup(d.explainQueues)
	return d
}

// Register makes these the entries of the registry.
func (d *driven) Register(entries ...map[string]any) {
	d.t.Helper()
	d.writeJSON(filepath.Join(d.Home, ".config", "agent-gauntlet", "agent-registry.json"), map[string]any{"agents": entries})
}

// echo is a model whose answer tells which prompt it got.
var echo = claudeapi.Func(func(r claudeapi.Request) claudeapi.Answer { return claudeapi.Text(answerTo(r.LastUserText())) })

func answerTo(prompt string) string { return fmt.Sprintf("answer to %.60q", strings.TrimSpace(prompt)) }

// state is a file or directory below stopgate's state directory.
func (d *driven) state(path ...string) string {
	return filepath.Join(append([]string{d.Home, ".local", "state", "stopgate"}, path...)...)
}

// explainQueues tells of a failed test what became of its queues.
func (d *driven) explainQueues() {
	if !d.t.Failed() {
		return
	}
	files, _ := filepath.Glob(d.state("logs", "queues", "*.json"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		var q queueFile
		err := json.Unmarshal(text, &q)
		d.t.Logf("%s: %s %v", filepath.Base(file), q.Status, err)
		for _, c := range q.Commands {
			d.t.Logf("  %d %.60q %s %+v", c.ID, c.Command, c.Status, c.Stopgate)
		}
	}
	for _, e := range d.recorded() {
		d.t.Logf("%s of prompt %.8s: %.60q", e.Name, e.Str("prompt_id"), e.Str("prompt")+e.Str("last_assistant_message"))
	}
	for _, l := range d.Post.Letters() {
		d.t.Logf("letter %s of %s: %s", l.Kind, l.Session, l.Headline)
	}
	for _, name := range []string{"driver.log", "wake.log"} {
		if text, err := os.ReadFile(d.state(name)); err == nil {
			d.t.Logf("%s:\n%s", name, text)
		}
	}
	log := exec.Command(filepath.Join(bin, "stopgate"), "log") // by now the test's own context is over
	log.Env = d.Env
	text, _ := log.CombinedOutput()
	d.t.Logf("stopgate log:\n%s", text)
}

// waitHelpers waits for those who type and send, which nobody waits for otherwise: one that is still
// there would write into the bench after its end. Whoever has nothing to wait for is ended.
func (d *driven) waitHelpers() {
	if poll(5*time.Second, func() bool { return len(d.helpers()) == 0 }) {
		return
	}
	for _, pid := range d.helpers() {
		syscall.Kill(pid, syscall.SIGTERM)
	}
	if !poll(patience, func() bool { return len(d.helpers()) == 0 }) {
		d.t.Errorf("still running on this bench: %v", d.helpers())
	}
}

func (d *driven) helpers() []int { return processesAt(d.Home) }

// processesAt are the processes with that home, where there is a /proc to tell.
func processesAt(home string) []int { return processtest.Having("\x00HOME=" + home + "\x00") }

// Session starts the client in a tmux session of that name, on the server that a plain "tmux" of
// this bench reaches. It has room for several.
func (d *driven) Session(name string, flags ...string) *tui {
	d.t.Helper()
	s := d.session(name, flags...)
	s.begin()
	return s
}

// session prepares one. The newest clients ask no person for permission unless told to.
func (d *driven) session(name string, flags ...string) *tui {
	d.t.Helper()
	dir := filepath.Join(d.Tmp, fmt.Sprintf("tmux-%d", os.Getuid()))
	check(d.t, os.MkdirAll(dir, 0o700))
	return d.terminal(filepath.Join(dir, "default"), name, d.clientCommand(append([]string{"--permission-mode", "default"}, flags...)...))
}

// Order gives a session commands.
func (d *driven) Order(session string, commands ...string) outcome {
	d.t.Helper()
	path := filepath.Join(d.Tmp, "order.json")
	d.writeJSON(path, map[string]any{"session": session, "commands": commands})
	return d.Stopgate("queue", "create", "--file", path)
}

// Create gives a session commands, and wants that to work.
func (d *driven) Create(session string, commands ...string) {
	d.t.Helper()
	d.Order(session, commands...).mustPass(d.t)
}

// queueFile is what these tests read of a queue.
type queueFile struct {
	Status   string
	Commands []queueCommand
}

type queueCommand struct {
	ID          int
	Command     string
	Status      string
	Trigger     queueHook
	Awaits      queueHook
	Result      *string
	CompletedAt *string `json:"completed_at"`
	Stopgate    struct {
		State    string
		Enters   int
		PromptID string `json:"prompt_id"`
		Ahead    string
		Why      string
	}
}

type queueHook struct {
	Hook string
	Sub  *string
}

// statuses are how far each command got.
func (q queueFile) statuses() []string {
	var all []string
	for _, c := range q.Commands {
		all = append(all, c.Status)
	}
	return all
}

// queuePath is the file of a session's queue: what is "" for the one under way, else done or
// stale.
func (d *driven) queuePath(session, what string) string {
	if what != "" {
		what = "." + what
	}
	return d.state("logs", "queues", "queue-"+session+what+".json")
}

func (d *driven) readQueue(session, what string) (q queueFile, found bool) {
	text, err := os.ReadFile(d.queuePath(session, what))
	return q, err == nil && json.Unmarshal(text, &q) == nil
}

// eventually waits as long as something goes on: it gives up when no hook was recorded for a while.
func (d *driven) eventually(condition func() bool) bool {
	for seen := -1; ; {
		if poll(patience, condition) {
			return true
		}
		now := len(d.recorded())
		if now == seen {
			return false
		}
		seen = now
	}
}

// waitQueue waits until a session's queue is as it should be.
func (d *driven) waitQueue(session, what string, fits func(queueFile) bool) (q queueFile) {
	d.t.Helper()
	found := false
	if !d.eventually(func() bool { q, found = d.readQueue(session, what); return found && fits(q) }) {
		d.t.Fatalf("session %s has no such %s queue; it is there: %v, %v", session, what, found, q.statuses())
	}
	return q
}

// waitDone waits for the end of a queue, all of whose commands have been worked off, and wants
// these results.
func (d *driven) waitDone(session string, results ...string) queueFile {
	d.t.Helper()
	q := d.waitQueue(session, "done", func(queueFile) bool { return true })
	var got []string
	for _, c := range q.Commands {
		result := ""
		if c.Result != nil {
			result = *c.Result
		}
		got = append(got, result)
		if c.Status != "done" || c.CompletedAt == nil {
			d.t.Errorf("command %d is %s", c.ID, c.Status)
		}
	}
	if diff := cmp.Diff(results, got); diff != "" {
		d.t.Errorf("results (-want +got):\n%s", diff)
	}
	return q
}

// waitActive waits until the command of that number is at that state.
func (d *driven) waitActive(session string, id int, state string) {
	d.t.Helper()
	d.waitQueue(session, "", func(q queueFile) bool {
		return len(q.Commands) >= id && q.Commands[id-1].Status == "active" && q.Commands[id-1].Stopgate.State == state
	})
}

// waitStale waits for the end of a queue before its time, and wants the commands to be so.
func (d *driven) waitStale(session string, statuses ...string) queueFile {
	d.t.Helper()
	q := d.waitQueue(session, "stale", func(queueFile) bool { return true })
	if got := q.statuses(); !slices.Equal(got, statuses) {
		d.t.Errorf("the commands are %v, want %v", got, statuses)
	}
	if _, found := d.readQueue(session, ""); found {
		d.t.Error("the queue is still under way")
	}
	return q
}

// prompts are what the clients were given so far, except for what they tell themselves.
func (d *driven) prompts() (all []string) {
	for _, e := range d.Events("UserPromptSubmit") {
		if prompt := e.Str("prompt"); !strings.HasPrefix(prompt, "<task-notification>") {
			all = append(all, prompt)
		}
	}
	return all
}

// wantPrompts wants the clients to have been given exactly these.
func (d *driven) wantPrompts(want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(want, d.prompts()); diff != "" {
		d.t.Errorf("prompts (-want +got):\n%s", diff)
	}
}

// postbox is the gateway of an agent: it keeps the letters that it took.
type postbox struct {
	URL string

	// refuse is given the number of each try, from 1, and may answer it otherwise.
	refuse func(w http.ResponseWriter, try int) (refused bool)

	mu      sync.Mutex
	letters []letter
	keys    []string // of all that came, also of those that were not taken
}

// letter is what these tests read of a wake.
type letter struct {
	Key, Kind, Event, Session, Headline, Message, Error string
	LastAssistantMessage                                *string  `json:"last_assistant_message"`
	SuggestedCommands                                   []string `json:"suggested_commands"`
	Queue                                               struct {
		Path             string
		Completed, Total int
		Remaining        []string
	}
}

func newPostbox(t testing.TB) *postbox {
	t.Helper()
	p := &postbox{}
	server := httptest.NewServer(p)
	p.URL = server.URL + "/wake"
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return p
}

func (p *postbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var l letter
	if err := json.NewDecoder(r.Body).Decode(&l); err != nil || l.Key != r.Header.Get("Idempotency-Key") {
		http.Error(w, "no letter", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.keys = append(p.keys, l.Key)
	try := len(p.keys)
	p.mu.Unlock()
	if p.refuse != nil && p.refuse(w, try) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.letters = append(p.letters, l)
}

// Letters are those that were taken.
func (p *postbox) Letters() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.letters)
}

// Keys are those under which something came, however often.
func (p *postbox) Keys() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.keys)
}

// kinds are those of the letters, except for those that tell that a client waits: they come when
// a test takes its time.
func (p *postbox) kinds() (all []string) {
	for _, l := range p.Letters() {
		if l.Kind != "idle" {
			all = append(all, l.Kind)
		}
	}
	return all
}

// waitLetter waits for the n-th letter of a kind, counted from 1.
func (d *driven) waitLetter(kind string, n int) (found letter) {
	d.t.Helper()
	came := d.eventually(func() bool {
		seen := 0
		for _, l := range d.Post.Letters() {
			if l.Kind == kind {
				if seen++; seen == n {
					found = l
					return true
				}
			}
		}
		return false
	})
	if !came {
		d.t.Fatalf("no letter %d of kind %s; there are %v", n, kind, d.Post.kinds())
	}
	return found
}

// wantLetters wants exactly letters of these kinds, in this order.
func (d *driven) wantLetters(kinds ...string) {
	d.t.Helper()
	if got := d.Post.kinds(); !slices.Equal(got, kinds) {
		d.t.Errorf("letters %v, want %v", got, kinds)
	}
}

// wantHeadline wants a letter to say so, in its text too.
func (d *driven) wantHeadline(l letter, want string) {
	d.t.Helper()
	if l.Headline != want || !strings.Contains(l.Message, want) {
		d.t.Errorf("the letter says %q, want %q; its text:\n%s", l.Headline, want, l.Message)
	}
}
