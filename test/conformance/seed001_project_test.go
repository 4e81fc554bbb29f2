package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// gated is a git repository with gates, in which an agent works on a branch of its
// own and has changed one file.
type gated struct {
	*bench
	env []string
}

// theCheck is a gate that fails while there is a file named bad. It notes each run
// outside the tree.
const theCheck = `base_branch: main
entry_points:
  - path: .
    checks:
      - name: tests
        command: echo run >> "$RUNS"; test ! -e bad
`

// newGated makes the repository. Every stop runs the gates, whenever the last one
// was.
func newGated(t *testing.T, config string) *gated {
	t.Helper()
	t.Parallel()
	g := bare(t)
	g.write(".gauntlet/config.yml", config)
	g.commit("the project")
	g.git("checkout", "-q", "-b", "work")
	g.write("work.txt", "what the agent did\n")
	return g
}

// bare makes an empty repository.
func bare(t *testing.T) *gated {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	g := &gated{bench: &bench{t: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "project")}}
	for _, dir := range []string{g.home, g.root, filepath.Join(dir, "tmp"), filepath.Join(dir, "bin")} {
		check(t, os.Mkdir(dir, 0o700))
	}
	g.env = []string{
		"HOME=" + g.home,
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"RUNS=" + g.beside("runs"),
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=0",
	}
	g.git("init", "-q", "-b", "main", "--template=")
	return g
}

// beside is a place next to the project that no snapshot of it sees.
func (g *gated) beside(name string) string { return filepath.Join(filepath.Dir(g.root), name) }

func (g *gated) path(name string) string { return filepath.Join(g.root, filepath.FromSlash(name)) }

// log is a file in the log directory.
func (g *gated) log(name string) string { return g.path("gauntlet_logs/" + name) }

func (g *gated) set(variable string) { g.env = append(g.env, variable) }

func (g *gated) git(args ...string) string {
	g.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir, cmd.Env = g.root, g.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (g *gated) commit(message string) {
	g.t.Helper()
	g.git("add", "-A")
	g.git("commit", "-q", "-m", message)
}

func (g *gated) remove(name string) {
	g.t.Helper()
	check(g.t, os.Remove(g.path(name)))
}

// runs is how often theCheck ran.
func (g *gated) runs() int { return strings.Count(slurp(g.t, g.beside("runs")), "\n") }

// global writes the user's own configuration.
func (g *gated) global(text string) {
	g.t.Helper()
	path := filepath.Join(g.home, ".config", "agent-gauntlet", "config.yml")
	check(g.t, os.MkdirAll(filepath.Dir(path), 0o700))
	spill(g.t, path, text)
}

// command prepares the program, which runs in the project.
func (g *gated) command(args ...string) *exec.Cmd {
	cmd := exec.Command(stopgate, args...)
	cmd.Dir, cmd.Env = g.root, g.env
	return cmd
}

// call runs the program.
func (g *gated) call(stdin []byte, args ...string) result {
	g.t.Helper()
	return await(g.t, g.command(args...), bytes.NewReader(stdin))
}

// await runs a command to its end.
func await(t *testing.T, cmd *exec.Cmd, stdin io.Reader) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// stopPayload is what the client sends, with changes; nil removes a field.
func (g *gated) stopPayload(changes map[string]any) []byte {
	g.t.Helper()
	all := map[string]any{"hook_event_name": "Stop", "stop_hook_active": false, "agent_id": nil, "agent_transcript_path": nil}
	for key, value := range changes {
		all[key] = value
	}
	return g.payload(all)
}

// stop is an agent that stops; the answer is the stop hook's.
func (g *gated) stop() answer { return g.stopWith(nil) }

func (g *gated) stopWith(changes map[string]any) answer {
	g.t.Helper()
	return g.stopFrom(g.root, changes)
}

// stopFrom is a stop hook whose process runs in dir.
func (g *gated) stopFrom(dir string, changes map[string]any) answer {
	g.t.Helper()
	cmd := g.command("stop-hook")
	cmd.Dir = dir
	return understand(g.t, await(g.t, cmd, bytes.NewReader(g.stopPayload(changes))))
}

// answer is what the stop hook said.
type answer struct {
	result
	Decision      string `json:"decision"`
	Status        string `json:"status"`
	Message       string `json:"message"`
	Reason        string `json:"reason"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	keys          map[string]any
}

// understand reads an answer and holds it to what every answer must be: exit code
// 0, one JSON object on one line, a reason on a block and only there, and no block
// but for failed gates.
func understand(t *testing.T, r result) answer {
	t.Helper()
	a := answer{result: r}
	if r.code != 0 {
		t.Errorf("exit code %d", r.code)
	}
	if strings.Count(r.stdout, "\n") != 1 || !strings.HasSuffix(r.stdout, "\n") {
		t.Errorf("not one line: %q", r.stdout)
	}
	for _, into := range []any{&a, &a.keys} {
		if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
			t.Fatalf("%v in %q, stderr %q", err, r.stdout, r.stderr)
		}
	}
	if a.Decision != "approve" && a.Decision != "block" || a.Status == "" || a.Message == "" {
		t.Errorf("not an answer: %s", r.stdout)
	}
	_, reason := a.keys["reason"]
	_, stopReason := a.keys["stopReason"]
	if blocks := a.Decision == "block"; blocks != (a.Status == "failed") || reason != blocks || stopReason != blocks || a.Reason != a.StopReason {
		t.Errorf("at odds with itself: %s", r.stdout)
	}
	return a
}

// is demands a status, and words in the message.
func (a answer) is(t *testing.T, status string, words ...string) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %q, want %q: %s\n%s", a.Status, status, a.stdout, a.stderr)
	}
	for _, word := range words {
		if !strings.Contains(strings.ToLower(a.Message), strings.ToLower(word)) {
			t.Errorf("the message %q does not say %q", a.Message, word)
		}
	}
}

// slurp reads a file; empty when there is none.
func slurp(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

func spill(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), 0o700))
}

var (
	exists     = checktest.Exists
	eventually = checktest.Eventually
)

// contains demands words in a text.
func contains(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not in %q", word, text)
		}
	}
}

// onlyTools is a PATH with these tools of the machine and nothing else.
func onlyTools(g *gated, tools ...string) string {
	g.t.Helper()
	dir := g.beside("only")
	check(g.t, os.Mkdir(dir, 0o700))
	for _, tool := range tools {
		path, err := exec.LookPath(tool)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, tool))
		}
		check(g.t, err)
	}
	return dir
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	check(t, os.Chmod(path, mode))
}
