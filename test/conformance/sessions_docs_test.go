package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/docs"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
	check(t, err)
	return string(text)
}

// blocks are the blocks of code of a page in that language.
func blocks(text, language string) (all []string) {
	for _, b := range docs.Read("", text).Blocks {
		if b.Language == language {
			all = append(all, b.Text)
		}
	}
	return all
}

// The registry that docs/guides/sessions.md shows has no fault but what this machine lacks.
func TestTheRegistryInTheDocsIsValid(t *testing.T) {
	t.Parallel()
	examples := blocks(page(t, "docs/guides/sessions.md"), "json")
	if len(examples) != 1 {
		t.Fatalf("%d registries", len(examples))
	}
	home := t.TempDir()
	path := filepath.Join(home, ".config", "agent-gauntlet", "agent-registry.json")
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	here := t.TempDir()
	check(t, os.WriteFile(path, []byte(strings.Replace(examples[0], "/srv/project", here, 1)), 0o600))
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "OPENCLAW_GATEWAY_TOKEN=set"}
	r := inDir(t, here, env, stopgate, "registry", "check", "--json")
	var report struct {
		Agents           int
		Faults, Warnings []any
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%+v", r)
	}
	if r.code != 0 || report.Agents != 1 || len(report.Faults) > 0 || len(report.Warnings) > 0 {
		t.Errorf("%s", r.stdout)
	}
}

// Orders that the docs and prompts show are understood: what they are refused for is that
// there is no such session here.
func TestOrdersInTheDocsAreUnderstood(t *testing.T) {
	t.Parallel()
	prompts, err := filepath.Glob(filepath.Join(repository, "internal", "session", "wake", "prompts", "*.md"))
	check(t, err)
	order := regexp.MustCompile(`(?:stopgate queue create|tui-driver) '(\{.*?\})'`)
	found := 0
	for _, name := range append(prompts, filepath.Join(repository, "docs", "guides", "sessions.md"), filepath.Join(repository, "README.md")) {
		text, err := os.ReadFile(name)
		check(t, err)
		for _, match := range order.FindAllStringSubmatch(string(text), -1) {
			found++
			home := t.TempDir()
			env := []string{"HOME=" + home, "TMUX_TMPDIR=" + home, "SHELL=/bin/sh", "PATH=" + os.Getenv("PATH")}
			if r := inDir(t, home, env, stopgate, "queue", "create", match[1]); r.code != 1 && r.code != 3 || !strings.Contains(r.stderr, "tmux") {
				t.Errorf("%s: %s: %+v", name, match[1], r)
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d orders found", found)
	}
}

// The page for users names every key of an entry, every kind of letter and every prompt.
func TestSessionsPageIsComplete(t *testing.T) {
	t.Parallel()
	text := page(t, "docs/guides/sessions.md")
	prompts, err := filepath.Glob(filepath.Join(repository, "internal", "session", "wake", "prompts", "*.md"))
	if err != nil || len(prompts) == 0 {
		t.Fatalf("%d prompts, %v", len(prompts), err)
	}
	for _, path := range prompts {
		name := filepath.Base(path)
		if short := "`…" + strings.TrimPrefix(name, "prompt_queue") + "`"; !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, short) {
			t.Errorf("%s is not named", name)
		}
	}
	for _, list := range []string{"entryMembers", "gatewayMembers"} {
		for _, name := range namesIn(t, list) {
			if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`gateway."+name+"`") {
				t.Errorf("%s is not named", name)
			}
		}
	}
}

// namesIn reads the names in the table that a method of the registry's reader gives.
func namesIn(t *testing.T, function string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "internal", "project", "registry", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	body := regexp.MustCompile(`(?s)func \(r \*reader\) ` + function + `\([^\n]*\) \[\]member \{(.*?)\n\}`)
	for _, path := range files {
		text, err := os.ReadFile(path)
		check(t, err)
		if match := body.FindSubmatch(text); match != nil {
			var names []string
			for _, word := range regexp.MustCompile(`\{(?:name: )?"(\w+)"`).FindAllStringSubmatch(string(match[1]), -1) {
				names = append(names, word[1])
			}
			if len(names) < 5 {
				t.Fatalf("%s has only the names %v", function, names)
			}
			return slices.Compact(names)
		}
	}
	t.Fatalf("the registry has no %s", function)
	return nil
}

// inDir runs a program somewhere.
func inDir(t *testing.T, dir string, env []string, program string, args ...string) result {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, env
	return await(t, cmd, nil)
}
