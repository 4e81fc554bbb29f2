//go:build unix

package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

// patience ends a page that waits for a person.
const patience = 3 * time.Minute

// A reader who copies every command of a page and writes every file that it shows, from top to bottom, meets no error.
func TestWalk(t *testing.T) {
	environtest.Need(t, "git")
	bin := t.TempDir()
	check(t, programs.Build(bin))
	for _, p := range pages(t) {
		if script := walk(t, p); script != "" {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				r := newReader(t, bin)
				r.follow(script)
				r.compare(p)
			})
		}
	}
}

// walk is all that a reader does with a page, as one script: so directories and variables stay from block to block.
func walk(t *testing.T, p Page) string {
	t.Helper()
	var script strings.Builder
	for _, b := range p.Blocks {
		step := ""
		switch {
		case b.NotRun():
			continue
		case b.IsShell() && p.WalkedBy() == "" && isForUsers(p):
			step = steps(b)
		default:
			step = write(t, fmt.Sprintf("%s:%d", p.Name, b.Line), b)
		}
		if b.Fails() {
			step = "if (\n" + step + "); then echo 'this should have failed'; exit 1; fi\n"
		}
		if step != "" {
			fmt.Fprintf(&script, "echo '@ %s:%d'\n%s", p.Name, b.Line, step)
		}
	}
	if script.Len() == 0 {
		return ""
	}
	if strings.Contains(script.String(), "git init") {
		return approves + script.String() // the page begins with an empty directory
	}
	return approves + setUp + script.String()
}

// approves answers the questions that are asked at a terminal.
const approves = `stopgate() {
	case "$*" in
	trust | 'hooks uninstall'*) command stopgate "$@" --yes ;;
	*) command stopgate "$@" ;;
	esac
}
`

// steps are the commands of a block. What a page shows of their output is kept for comparison.
func steps(b Block) string {
	script := b.Script()
	for i, shown := range b.Console() {
		if b.Language == "console" && len(shown.Output) > 0 {
			kept := output(b, i)
			script = strings.Replace(script, shown.Command+"\n", fmt.Sprintf("{ %s\n} > %s 2>&1 || { cat %s; exit 1; }\n", shown.Command, kept, kept), 1)
		}
	}
	return script
}

func output(b Block, command int) string { return fmt.Sprintf(`"$HOME/output-%d-%d"`, b.Line, command) }

// isForUsers tells pages from those for people who develop stopgate: their commands build and measure it.
func isForUsers(p Page) bool {
	return p.Name == "README.md" || strings.HasPrefix(p.Name, "docs/") &&
		!strings.HasPrefix(p.Name, "docs/dev/") && !strings.HasPrefix(p.Name, "docs/adr/")
}

// setUp is the project of a reader who has read the start page.
const setUp = `git init --quiet && git commit --quiet --allow-empty --message "A project"
stopgate init --yes --check "make test" > /dev/null
`

// write puts a file that a page shows where it belongs, and has it checked.
func write(t *testing.T, where string, b Block) string {
	t.Helper()
	name := fileOf(t, where, b)
	if name == "" {
		return ""
	}
	script := ""
	for _, check := range mentioned.FindAllStringSubmatch(b.Text, -1) {
		script += fmt.Sprintf("mkdir -p .gauntlet/checks\n[ -e %s ] || echo 'command: make %s' > %s\n", check[0], check[1], check[0])
	}
	script += fmt.Sprintf("mkdir -p \"$(dirname %s)\"\ncat > %s <<'END OF FILE'\n%sEND OF FILE\n", name, name, b.Text)
	if strings.Contains(name, "/runbooks/") {
		script += "stopgate runbook check\n"
		if !named.MatchString(b.Text) { // what has a name is there for others to import
			script += "rm " + name + "\n"
		}
		return script
	}
	return script + "stopgate validate\nif [ -e .gauntlet ]; then stopgate trust > /dev/null; fi\n"
}

// mentioned are files of checks that a configuration needs, and names in a comment.
var mentioned = regexp.MustCompile(`\.gauntlet/checks/(\w+)\.yml`)

// named is how the first line of a file says which one it is.
var named = regexp.MustCompile(`^(?:#|//) (\S+\.(?:ya?ml|json|toml|hcl))\n`)

// fileOf is the file that a block shows, for the shell; empty for text, and for examples of data.
func fileOf(t *testing.T, where string, b Block) string {
	t.Helper()
	if match := named.FindStringSubmatch(b.Text); match != nil {
		return strings.Replace(match[1], "~/", "$HOME/", 1)
	}
	switch b.Language {
	case "yaml":
		return configOf(t, where, b.Text)
	case "json":
		return dataOf(t, where, b.Text)
	case "toml", "hcl":
		return ".gauntlet/runbooks/page." + b.Language
	}
	return ""
}

// configOf tells the global configuration from a project's, by a key that only the one has.
func configOf(t *testing.T, where, text string) string {
	t.Helper()
	var keys map[string]any
	if err := yaml.Unmarshal([]byte(text), &keys); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	project, global := keysOf(t, "project"), keysOf(t, "global")
	for key := range keys {
		if _, known := project[key]; !known && global[key] != nil {
			return "$HOME/.config/agent-gauntlet/config.yml"
		}
	}
	return ".gauntlet/config.yml"
}

func keysOf(t *testing.T, kind string) map[string]any {
	t.Helper()
	text, err := config.Schema(kind)
	check(t, err)
	var schema struct{ Properties map[string]any }
	check(t, json.Unmarshal(text, &schema))
	if len(schema.Properties) == 0 {
		t.Fatalf("the schema %s has no keys", kind)
	}
	return schema.Properties
}

// dataOf knows the launcher's file by its key. Other JSON only has to be well-formed.
func dataOf(t *testing.T, where, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	var keys map[string]any
	for decoder.More() {
		if err := decoder.Decode(&keys); err != nil {
			t.Errorf("%s: %v", where, err)
			return ""
		}
	}
	if keys["providers"] != nil {
		return "$HOME/.claude/ccc.json"
	}
	return ""
}

// reader is a person with a home, an empty directory and the tools that pages name.
type reader struct {
	t         *testing.T
	home, dir string
	path      string
}

// tools succeed whatever they are told.
var tools = []string{"codex", "go", "hk", "lefthook", "make", "notify-send", "npm", "npx", "pre-commit", "pytest"}

// claude does nothing in a terminal, and finds nothing in a review.
const claude = `if [ "$1" = --version ]; then
	echo '2.1.197 (Claude Code)'
else
	echo '{"status": "pass", "message": "all is well"}'
fi`

func newReader(t *testing.T, bin string) *reader {
	t.Helper()
	home, err := os.MkdirTemp("", "r") // a socket's path is short
	check(t, err)
	r := &reader{t: t, home: home, dir: filepath.Join(home, "code")}
	own := filepath.Join(home, "bin")
	for _, dir := range []string{r.dir, own} {
		check(t, os.Mkdir(dir, 0o700))
	}
	for _, tool := range tools {
		r.program(filepath.Join(own, tool), "exit 0")
	}
	r.program(filepath.Join(own, "claude"), claude)
	check(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\nname = Ada\nemail = ada@example.com\n[init]\ndefaultBranch = main\n"), 0o600))
	r.path = strings.Join([]string{own, bin, os.Getenv("PATH")}, ":")
	t.Cleanup(r.leave)
	return r
}

func (r *reader) program(path, script string) {
	r.t.Helper()
	check(r.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
}

// leave ends the daemon, if a command has started it.
func (r *reader) leave() {
	_, _ = r.run(context.Background(), "stopgate daemon stop --kill")
	end := time.Now().Add(patience)
	for os.RemoveAll(r.home) != nil && time.Now().Before(end) {
		time.Sleep(100 * time.Millisecond)
	}
}

func (r *reader) follow(script string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	if out, err := r.run(ctx, script); err != nil {
		r.t.Errorf("%v, after:\n%s", err, out)
	}
}

// compare demands that the commands printed what the page shows.
func (r *reader) compare(p Page) {
	r.t.Helper()
	for _, b := range p.Blocks {
		for i, shown := range b.Console() {
			path := os.Expand(strings.Trim(output(b, i), `"`), func(string) string { return r.home })
			printed, err := os.ReadFile(path)
			if err != nil {
				continue // the block is not run, or shows no output
			}
			if line := shown.Missing(string(printed)); line != "" {
				r.t.Errorf("%s:%d: %q does not print %q, or not in its place:\n%s", p.Name, b.Line, shown.Command, line, printed)
			}
		}
	}
}

func (r *reader) run(ctx context.Context, script string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", script)
	cmd.Dir = r.dir
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + r.path, "SHELL=/bin/sh", "TERM=dumb", "TMUX_TMPDIR=" + r.home, "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end in %v", patience)
	}
	return out.String(), err
}
