//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// model makes a project in which the client stands in for the real one, with a model of the kind that a
// shell's case makes of what it is told.
func (p *daemonScene) model(cases string) {
	p.t.Helper()
	client, err := standInClient()
	check(p.t, err)
	check(p.t, os.Symlink(client, filepath.Join(p.home, "claude")))
	p.write(filepath.Join(p.home, "standin-model"), signals+cases+"esac\n")
	check(p.t, os.Chmod(filepath.Join(p.home, "standin-model"), 0o700))
}

// comesBack is a pipeline that comes to its agent three times: twice in the same directory, and once
// in another.
const comesBack = `
[command.go]
run = { pipeline = "work" }
[pipeline.work]
[[pipeline.work.step]]
name = "work"
run = { agent = "worker" }
on_done = "test"
[[pipeline.work.step]]
name = "test"
run = 'test -e tried || { touch tried; echo "it is red"; exit 1; }'
on_done = "elsewhere"
on_fail = "work"
[[pipeline.work.step]]
name = "elsewhere"
run = { agent = "worker" }
cwd = "sub dir"
[agent.worker]
run = "claude"
resume = true
prompt = "Do it in ${step}. ${error}"
`

// An agent with resume = true goes on in its conversation; where that belongs to another directory it
// begins a new one, and the log says so. A daemon that is killed between makes no difference.
func TestAgentThatResumes(t *testing.T) {
	p := newDaemonScene(t, comesBack)
	p.model(`*"it is red"*) until [ -e "$HOME/killed" ]; do sleep 0.1; done; echo Fixed. ;;
`)
	check(t, os.Mkdir(filepath.Join(p.root, "sub dir"), 0o700))
	p.wake()
	id := p.begins("go")
	eventually(t, "it is sent back", func() bool { return len(p.owner(id).Steps) == 3 })
	p.kill()
	p.write(filepath.Join(p.home, "killed"), "")
	p.wake()

	if got, want := p.went(id), "done: work completed, test failed, work completed, test completed, elsewhere completed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	signal := "You must explicitly signal completion before stopping."
	if diff := cmp.Diff([]string{"Do it in work. ", signal, "Do it in work. exit status 1: it is red", signal, "Do it in elsewhere. exit status 1: it is red", signal}, p.wasTold()); diff != "" {
		t.Error(diff)
	}

	transcripts, err := filepath.Glob(filepath.Join(p.home, ".claude", "projects", "*", "*.jsonl"))
	check(t, err)
	var held []int
	for _, path := range transcripts {
		text, err := os.ReadFile(path)
		check(t, err)
		held = append(held, strings.Count(string(text), "Do it in "))
	}
	if len(held) != 2 || held[0]+held[1] != 3 {
		t.Errorf("the conversations have %v of the prompts", held)
	}
	log := p.does("pipeline", "logs", id).stdout
	if n := strings.Count(log, "cannot be resumed: it began in "); n != 1 || !strings.Contains(log, "[elsewhere] the conversation ") {
		t.Errorf("the log says it %d times:\n%s", n, log)
	}
}
