// Package conformance holds the scenarios of the specifications, as tests of the
// built program, and checks the table in docs/dev/conformance.md against them.
package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
	"github.com/stopgate/stopgate/test/standin"
)

var (
	check   = checktest.OK
	inOrder = checktest.InOrder
)

// The program, and the program under the names that seeds 000 and 003 give it.
var stopgate, conclaude, tuiDriver string

func TestMain(m *testing.M) {
	if socket := os.Getenv(standin.ActorEnv); socket != "" {
		if err := standin.Act(socket, time.Second); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	environtest.Clean()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "conformance-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := programs.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stopgate, conclaude, tuiDriver = filepath.Join(dir, "stopgate"), filepath.Join(dir, "conclaude"), filepath.Join(dir, "tui-driver")
	for _, name := range []string{conclaude, tuiDriver} {
		if err := os.Symlink(stopgate, name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// bench is a project of its own, with a home of its own.
type bench struct {
	t    *testing.T
	home string
	root string
}

// newBench makes a project whose SubagentStop hook is the shell script.
func newBench(t *testing.T, script string) *bench {
	t.Helper()
	t.Parallel()
	b := &bench{t: t, home: t.TempDir(), root: t.TempDir()}
	b.write(".gauntlet/config.yml", "hooks:\n  SubagentStop:\n    - run: |\n        "+strings.ReplaceAll(script, "\n", "\n        ")+"\n")
	return b
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	check(b.t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(b.t, os.WriteFile(path, []byte(text), 0o600))
}

// read returns what a hook command left behind; empty when it did not run.
func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	return string(data)
}

// payload is the seed's complete example, in this project, with changes. A nil
// value removes the field.
func (b *bench) payload(changes map[string]any) []byte {
	b.t.Helper()
	doc := map[string]any{
		"session_id":            "abc123",
		"transcript_path":       "/tmp/main.json",
		"hook_event_name":       "SubagentStop",
		"cwd":                   b.root,
		"stop_hook_active":      true,
		"agent_id":              "coder",
		"agent_transcript_path": "/tmp/agent.json",
	}
	for key, value := range changes {
		if value == nil {
			delete(doc, key)
		} else {
			doc[key] = value
		}
	}
	data, err := json.Marshal(doc)
	check(b.t, err)
	return data
}

type result struct {
	stdout, stderr string
	code           int
}

// fire calls "conclaude SubagentStop" with the payload.
func (b *bench) fire(payload []byte) result {
	b.t.Helper()
	cmd := exec.Command(conclaude, "SubagentStop")
	cmd.Dir = b.root
	cmd.Env = []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = bytes.NewReader(payload)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// passes demands that the payload was accepted and the hook ran.
func (b *bench) passes(r result) {
	b.t.Helper()
	if r.code != 0 || r.stderr != "" || r.stdout != "" {
		b.t.Fatalf("not accepted: %+v", r)
	}
	if b.read("ran") == "" {
		b.t.Fatal("the hook did not execute")
	}
}

// rejected demands that the payload was refused with these words, visibly, and
// that nothing ran.
func (b *bench) rejected(r result, words ...string) {
	b.t.Helper()
	if r.code != 1 || r.stdout != "" {
		b.t.Errorf("exit %d, stdout %q; want exit 1 and nothing on stdout", r.code, r.stdout)
	}
	for _, w := range words {
		if !strings.Contains(r.stderr, w) {
			b.t.Errorf("stderr %q does not say %q", r.stderr, w)
		}
	}
	if b.read("ran") != "" {
		b.t.Error("the hook executed")
	}
}
