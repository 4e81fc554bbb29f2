//go:build unix

package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	api "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// nobody is an agent that no daemon knows.
const nobody = "0d9a4d52-6f1e-5c3b-9a77-2f1d3c4b5a69"

// daemonScene is a project with a runbook, and a daemon with a state directory of its own.
// People are told in the file "told", in the home directory.
type daemonScene struct {
	*api.Client
	t                 *testing.T
	home, state, root string
	daemon            *exec.Cmd
}

// standInAgent is what an agent of these tests runs: it says which process it is, and
// stays.
const standInAgent = `echo $$ > pid.tmp; mv pid.tmp pid-$STOPGATE_AGENT_ID; exec sleep 1000`

func newDaemonScene(t *testing.T, runbook string) *daemonScene {
	t.Helper()
	t.Parallel()
	p := elsewhere(t, t.TempDir(), t.TempDir())
	p.write(filepath.Join(p.home, ".config", "agent-gauntlet", "config.yml"), "notify:\n  command: printf '%s\\n' >> \"$HOME/told\"\n")
	p.write(filepath.Join(p.root, ".gauntlet", "config.yml"), "hooks: {}\n")
	p.write(filepath.Join(p.root, ".gauntlet", "runbooks", "work.toml"), runbook)
	return p
}

// elsewhere is a project with a state directory that is new.
func elsewhere(t *testing.T, home, root string) *daemonScene {
	t.Helper()
	state, err := os.MkdirTemp("", "s") // a socket's path is short
	check(t, err)
	p := &daemonScene{t: t, home: home, state: state, root: root, Client: api.New(filepath.Join(state, "daemon.sock"), "test")}
	t.Cleanup(p.end)
	return p
}

func (p *daemonScene) write(path, text string) {
	p.t.Helper()
	check(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(p.t, os.WriteFile(path, []byte(text), 0o600))
}

func (p *daemonScene) env() []string {
	return []string{"HOME=" + p.home, "PATH=" + p.home + ":" + os.Getenv("PATH"), "STOPGATE_STATE_DIR=" + p.state}
}

// wake starts the daemon, and waits until it is ready.
func (p *daemonScene) wake() {
	p.t.Helper()
	read, write, err := os.Pipe()
	check(p.t, err)
	defer read.Close()
	p.daemon = exec.Command(filepath.Join(filepath.Dir(stopgate), "stopgated"), "daemon")
	p.daemon.Env = append(p.env(), "STOPGATED_READY_FD=3")
	p.daemon.ExtraFiles = []*os.File{write}
	err = p.daemon.Start()
	write.Close()
	check(p.t, err)
	if line, err := bufio.NewReader(read).ReadString('\n'); err != nil || !strings.Contains(line, `"ready":true`) {
		p.t.Fatalf("%s, %v", line, err)
	}
}

// kill ends the daemon as kill -9 does.
func (p *daemonScene) kill() {
	p.t.Helper()
	check(p.t, p.daemon.Process.Kill())
	_ = p.daemon.Wait()
	p.daemon = nil
}

// end stops the daemon and what it started.
func (p *daemonScene) end() {
	if p.daemon == nil {
		p.wake()
	}
	if r := p.stopgate("daemon", "stop", "--kill"); r.code != 0 {
		p.t.Errorf("%+v", r)
		_ = p.daemon.Process.Kill()
	}
	_ = p.daemon.Wait()
	if err := os.RemoveAll(p.state); err != nil {
		p.t.Error(err)
	}
}

// stopgate runs a command in the project.
func (p *daemonScene) stopgate(args ...string) result {
	p.t.Helper()
	return inDir(p.t, p.root, p.env(), stopgate, args...)
}

// does runs a command that must succeed.
func (p *daemonScene) does(args ...string) result {
	p.t.Helper()
	r := p.stopgate(args...)
	if r.code != 0 {
		p.t.Fatalf("%q: %+v", args, r)
	}
	return r
}

// start runs a command of the runbook, and waits until its agent runs.
func (p *daemonScene) start(command string) (owner, agent string) {
	p.t.Helper()
	o := p.startOnly(command)
	eventually(p.t, "the agent runs", func() bool { return p.read("pid-"+o.Agent.ID) != "" })
	return o.ID, o.Agent.ID
}

func (p *daemonScene) startOnly(command string) (o api.Owner) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.does("start", "--json", command).stdout), &o); err != nil || o.Agent == nil {
		p.t.Fatalf("%+v, %v", o, err)
	}
	return o
}

func (p *daemonScene) owner(id string) api.Owner {
	p.t.Helper()
	o, err := p.Owner(p.t.Context(), id)
	check(p.t, err)
	return o
}

// reaches waits until an owner has come so far.
func (p *daemonScene) reaches(id, step, status string) api.Owner {
	p.t.Helper()
	var o api.Owner
	eventually(p.t, step+" "+status, func() bool {
		o = p.owner(id)
		return o.Step == step && o.Status == status
	})
	return o
}

// decision is the one open decision.
func (p *daemonScene) decision() api.Decision {
	p.t.Helper()
	all, err := p.Decisions(p.t.Context(), false)
	if err != nil || len(all) != 1 {
		p.t.Fatalf("%d decisions are open, %v", len(all), err)
	}
	return all[0]
}

// says is a word about an agent as a hook puts it on record. It returns its place.
func (p *daemonScene) says(name string, w event.Word) journal.Position {
	p.t.Helper()
	at, err := p.journal().Append(&event.Record{Call: journal.NewID(), Kind: event.Emitted, Event: name, Word: &w})
	check(p.t, err)
	return at
}

// heard waits until the daemon has read everything that was said.
func (p *daemonScene) heard() { p.asks(nobody, p.saidSoFar()) }

// asks is the question of a stop hook: may the agent stop?
func (p *daemonScene) asks(agent string, through journal.Position) api.Signal {
	p.t.Helper()
	s, err := p.Signal(p.t.Context(), agent, through)
	check(p.t, err)
	return s
}

func (p *daemonScene) journal() *journal.Journal {
	return journal.New(filepath.Join(p.state, "journal"), journal.Limits{})
}

// saidSoFar is the journal's end.
func (p *daemonScene) saidSoFar() (end journal.Position) {
	p.t.Helper()
	for e, err := range p.journal().Read(journal.Position{}) {
		check(p.t, err)
		end = e.Position
	}
	return end
}

// inbox is what was typed to an agent.
func (p *daemonScene) inbox(agent string) (texts []string) {
	p.t.Helper()
	dir := filepath.Join(p.state, "agents", agent, "inbox")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue // one that is being written
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		check(p.t, err)
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return texts
}

// told is what people were told.
func (p *daemonScene) told() string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, "told"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(text)
}

// read is a file of the project; empty when it is not there.
func (p *daemonScene) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.root, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(text)
}

// runs reports whether the agent's process is there.
func (p *daemonScene) runs(agent string) bool {
	p.t.Helper()
	pid := strings.TrimSpace(p.read("pid-" + agent))
	return !errors.Is(syscall.Kill(atoi(p.t, pid), 0), syscall.ESRCH) && !defunct(p.t, pid)
}
