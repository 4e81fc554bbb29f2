//go:build unix

package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/test/standin"
)

// stage is a person's machine: a tmux server, a home, and a registry with one agent, the
// warden. Its gateway is a command that keeps what it gets in files.
type stage struct {
	t    *testing.T
	dir  string // short, for the sockets of tmux
	env  []string
	root string // where the clients work

	listening sync.WaitGroup // to stand-ins
}

type fields map[string]any

// patience bounds the wait for processes that are about to end.
const patience = 3 * time.Minute

// deliver is the warden's gateway. It keeps messages in the order in which they come:
// the first line has kind and key, the rest is the message. While a file "down" lies
// beside them it waits; while there is one called "broken" it fails.
const deliver = `cat > "$0/part"
while test -e "$0/down"; do sleep 0.02; done
echo "$STOPGATE_MESSAGE_KEY" >> "$0/tries"
if test -e "$0/broken"; then rm "$0/broken"; exit 1; fi
{ echo "$STOPGATE_KIND $STOPGATE_MESSAGE_KEY"; cat "$0/part"; } > "$0/whole"
mv "$0/whole" "$0/letter-$(printf %03d $(ls "$0" | grep -c letter))"`

// newStage has these fields in the warden's entry besides its name, its sessions and its
// gateway.
func newStage(t *testing.T, entry fields) *stage {
	t.Helper()
	t.Parallel()
	tmux := environtest.Need(t, "tmux")
	dir, err := os.MkdirTemp("", "stage")
	check(t, err)
	s := &stage{t: t, dir: dir, root: filepath.Join(dir, "project")}
	s.env = []string{
		"HOME=" + dir, "TMUX_TMPDIR=" + dir, "LC_ALL=C", "SHELL=/bin/sh", "TERM=xterm-256color",
		"PATH=" + strings.Join([]string{filepath.Dir(stopgate), filepath.Dir(tmux), "/usr/bin", "/bin"}, ":"),
	}
	for _, sub := range []string{s.root, s.mailbox(), s.config()} {
		check(t, os.MkdirAll(sub, 0o700))
	}
	s.register(entry)
	t.Cleanup(s.end)
	return s
}

func (s *stage) mailbox() string { return filepath.Join(s.dir, "mail") }

func (s *stage) config(path ...string) string {
	return filepath.Join(append([]string{s.dir, ".config", "agent-gauntlet"}, path...)...)
}

func (s *stage) state(path ...string) string {
	return filepath.Join(append([]string{s.dir, ".local", "state", "stopgate"}, path...)...)
}

func (s *stage) register(more fields) {
	s.t.Helper()
	entry := fields{
		"agent_id": "warden", "session_name": "warden-*", "working_directory": s.root,
		"gateway": fields{"transport": "command", "command": []string{"sh", "-c", deliver, s.mailbox()}},
	}
	maps.Copy(entry, more)
	spill(s.t, s.config("agent-registry.json"), encode(fields{"agents": []any{entry}}))
	check(s.t, os.Chmod(s.config("agent-registry.json"), 0o600))
}

// end leaves nothing behind: what still types or sends ends by itself when there is
// nothing more to do. The registry stays until then, or letters would wait for it.
func (s *stage) end() {
	if s.t.Failed() {
		s.explain()
	}
	_ = os.Remove(filepath.Join(s.mailbox(), "down"))
	queues, _ := filepath.Glob(s.state("logs", "queues", "*.lock"))
	for _, path := range queues {
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "queue-"), ".")
		_ = s.command(stopgate, "queue", "cancel", name).Run() // it may have none
	}
	_ = s.command("tmux", "kill-server").Run() // nobody may have started it
	s.listening.Wait()
	for end := time.Now().Add(patience); s.working() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if s.working() {
		s.t.Errorf("something still works in %s", s.dir)
		return // it would only make the directory anew
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Error(err)
	}
}

// working reports whether a process of this machine is left: they all have its home.
// Where the system does not tell, letters that wait do.
func (s *stage) working() bool {
	waiting, _ := filepath.Glob(s.state("outbox", "*", "0*.json"))
	return len(processtest.Having("HOME="+s.dir+"\x00")) > 0 || len(processtest.Having("")) == 0 && len(waiting) > 0
}

// explain shows what the machine holds when a test has failed.
func (s *stage) explain() {
	for _, pattern := range []string{s.state("logs", "queues", "*.json"), s.state("*.log"), filepath.Join(s.mailbox(), "*")} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			s.t.Logf("%s:\n%.3000s", path, slurp(s.t, path))
		}
	}
	log, _ := s.command(stopgate, "log").CombinedOutput()
	s.t.Logf("stopgate log:\n%s", log)
}

func (s *stage) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = s.env, s.root
	return cmd
}

// call runs a program of ours outside the sessions.
func (s *stage) call(program string, args ...string) result {
	s.t.Helper()
	return await(s.t, s.command(program, args...), nil)
}

// create gives a session commands, and wants that to work.
func (s *stage) create(session string, commands ...string) result {
	s.t.Helper()
	r := s.call(stopgate, "queue", "create", encode(fields{"session": session, "commands": commands}))
	if r.code != 0 || r.stderr != "" {
		s.t.Fatalf("queue create: %+v", r)
	}
	return r
}

func (s *stage) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.command("tmux", append([]string{"-u", "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// pane is a session with a stand-in for the client.
type pane struct {
	s       *stage
	session string // of tmux
	id      string // the client's session
	server  string // as TMUX has it
	pane    string
	prompts []string // that Enter sent off
	*standin.Director
}

type looks = standin.Looks

// open makes a session whose client has told of itself and waits for a prompt.
func (s *stage) open(session string) *pane {
	s.t.Helper()
	p := s.openSilent(session)
	p.start("startup")
	return p
}

// openSilent makes one whose client has not.
func (s *stage) openSilent(session string) *pane {
	s.t.Helper()
	p := &pane{s: s, session: session, id: "client-" + session}
	p.Director = standin.Direct(s.t, filepath.Join(s.dir, "client-"+session), func(variable, program string) {
		printed := s.tmux("new-session", "-d", "-P", "-F", "#{socket_path},#{pid},0 #{pane_id}", "-s", session, "-x", "140", "-y", "50", "-e", variable, program)
		p.server, p.pane, _ = strings.Cut(printed, " ")
	})
	s.listening.Go(p.Listen)
	p.Show(looks{})
	return p
}

// wantTyped wants these commands to have been pasted and entered, and no other byte to
// have reached the pane.
func (p *pane) wantTyped(commands ...string) {
	p.s.t.Helper()
	var want strings.Builder
	for _, text := range commands {
		want.WriteString(pasted(text) + "\r")
	}
	p.wantBytes(want.String())
}

func pasted(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

func (p *pane) wantBytes(want string) {
	p.s.t.Helper()
	if got := p.Given(func() { p.s.tmux("send-keys", "-t", p.pane, "-H", "01") }); got != want {
		p.s.t.Errorf("the pane got %.300q, want %.300q", got, want)
	}
}

// sent waits for the text that Enter sends off as the n-th, from 1.
func (p *pane) sent(n int) string {
	p.s.t.Helper()
	for len(p.prompts) < n {
		select {
		case text := <-p.Sent:
			p.prompts = append(p.prompts, text)
		case <-time.After(patience):
			p.s.t.Fatalf("never: prompt %d is sent off", n)
		}
	}
	return p.prompts[n-1]
}

// event is a hook call of the client in this pane: a captured payload with changes; nil
// removes a field. Variables may be added to its environment.
func (p *pane) event(name string, changes fields, env ...string) result {
	p.s.t.Helper()
	cmd, payload := p.prepare(name, changes, env...)
	return await(p.s.t, cmd, bytes.NewReader(payload))
}

func (p *pane) prepare(name string, changes fields, env ...string) (*exec.Cmd, []byte) {
	p.s.t.Helper()
	doc := fields{}
	decode(p.s.t, slurp(p.s.t, filepath.Join(repository, "internal", "harness", "hook", "testdata", "payloads", name+".json")), &doc)
	doc["session_id"], doc["cwd"] = p.id, p.s.root
	maps.Copy(doc, changes)
	maps.DeleteFunc(doc, func(_ string, value any) bool { return value == nil })
	cmd := p.s.command(stopgate, "hook")
	cmd.Env = slices.Concat(p.s.env, []string{"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "TMUX=" + p.server, "TMUX_PANE=" + p.pane}, env)
	return cmd, []byte(encode(doc))
}

// hook is one that has nothing to say to the client.
func (p *pane) hook(name string, changes fields, env ...string) {
	p.s.t.Helper()
	if r := p.event(name, changes, env...); r != (result{}) {
		p.s.t.Errorf("%s: %+v; want exit 0 and silence", name, r)
	}
}

func (p *pane) start(source string) { p.s.t.Helper(); p.hook("session-start."+source, nil) }

func (p *pane) prompt(id, text string) {
	p.s.t.Helper()
	p.hook("user-prompt-submit.typed-in-tmux", fields{"prompt_id": id, "prompt": text})
}

func (p *pane) stop(id, message string) {
	p.s.t.Helper()
	p.hook("stop.first", fields{"prompt_id": id, "last_assistant_message": message})
}

// work calls the hooks of a client that does the n-th prompt, and answers it.
func (p *pane) work(n int) {
	p.s.t.Helper()
	id, text := "prompt-"+strconv.Itoa(n), p.sent(n)
	switch text {
	case "/clear":
		p.hook("session-end.clear", nil)
		p.id += "'"
		p.hook("session-start.clear", fields{"prompt_id": id})
	case "/compact":
		p.hook("pre-compact", fields{"prompt_id": id})
		p.hook("session-start.compact", fields{"prompt_id": id})
	default:
		p.prompt(id, text)
		p.stop(id, answerTo(text))
	}
}

func answerTo(text string) string { return "answer to " + text }

// queueFile is the seed's document.
type queueFile struct {
	Status   string
	Commands []struct {
		ID              int
		Command, Status string
		Trigger, Awaits hookName
		Result          *string
		CompletedAt     *string `json:"completed_at"`
		Stopgate        struct{ State, Why string }
	}
}

type hookName struct {
	Hook string
	Sub  *string
}

// file is one of the files of a session's queue: "", ".done", ".stale".
func (s *stage) file(session, suffix string) string {
	return s.state("logs", "queues", "queue-"+session+suffix+".json")
}

func (s *stage) queue(session, suffix string) (q queueFile) {
	s.t.Helper()
	decode(s.t, slurp(s.t, s.file(session, suffix)), &q)
	return q
}

// wantQueue wants the commands of a session's file to be so.
func (s *stage) wantQueue(session, suffix, want string) {
	s.t.Helper()
	if got := s.queue(session, suffix).statuses(); got != want {
		s.t.Errorf("the commands of %s%s are %q, want %q", session, suffix, got, want)
	}
}

// wantNoQueue wants that a session has none.
func (s *stage) wantNoQueue(session string) {
	s.t.Helper()
	if exists(s.file(session, "")) {
		s.t.Errorf("session %s has a queue: %s", session, slurp(s.t, s.file(session, "")))
	}
}

func (q queueFile) statuses() string {
	var all []string
	for _, c := range q.Commands {
		all = append(all, c.Status)
	}
	return strings.Join(all, " ")
}

// letter is a message that the warden got.
type letter struct{ kind, key, text string }

// letters waits until the warden has so many.
func (s *stage) letters(n int) []letter {
	s.t.Helper()
	var paths []string
	eventually(s.t, fmt.Sprintf("%d letters arrive", n), func() bool {
		paths, _ = filepath.Glob(filepath.Join(s.mailbox(), "letter-*"))
		return len(paths) >= n
	})
	var all []letter
	for _, path := range paths {
		first, text, _ := strings.Cut(slurp(s.t, path), "\n")
		kind, key, _ := strings.Cut(first, " ")
		all = append(all, letter{kind, key, text})
	}
	return all
}

// wantLetters waits for letters of exactly these kinds, and gives the last. A hook has
// written its letter when it ends, so what is not there now does not come.
func (s *stage) wantLetters(kinds ...string) letter {
	s.t.Helper()
	keys := map[string]bool{}
	waiting, _ := filepath.Glob(s.state("outbox", "*", "0*.json"))
	for _, path := range waiting {
		_, key, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
		keys[key] = true
	}
	all := s.letters(len(kinds))
	var got []string
	for _, l := range all {
		got = append(got, l.kind)
		keys[l.key] = true
	}
	if !slices.Equal(got, kinds) || len(keys) != len(kinds) {
		s.t.Fatalf("letters %q, want %q; %d there are in all", got, kinds, len(keys))
	}
	if len(all) == 0 {
		return letter{}
	}
	return all[len(all)-1]
}

func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v: %.500q", err, text)
	}
}
