package environ

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestOwn(t *testing.T) {
	for _, name := range []string{
		"STOPGATE_INSIDE", "STOPGATE_STATE_DIR", "GAUNTLET_STOP_HOOK_ENABLED", "CCC_SUPERVISOR_HOOK", "CCC_WORK_DIR",
		"OJ_STATE_DIR", "OJ_AGENT_ID", "XDG_STATE_HOME", "HOME", "USERPROFILE", "CLAUDE_CONFIG_DIR", "GITHUB_BASE_REF",
	} {
		if !Own(name) {
			t.Errorf("%s is taken for another program's", name)
		}
	}
	for _, name := range []string{"PATH", "CI", "NODE_ENV", "STOPGATE", "MY_HOME", "ANTHROPIC_BASE_URL"} {
		if Own(name) {
			t.Errorf("%s is taken for ours", name)
		}
	}
}

// others begin the variables in our source that are not our own, with the reason why a project may
// set them.
var others = map[string]string{
	"AI_AGENT": "the client sets it", "CLAUDE_": "the client sets it, or goes by it", "ANTHROPIC_": "reviewers get the person's",
	"GOOGLE_": "its value is kept out of logs", "BASE_BRANCH": "checks get it", "VAR_": "steps get the variables of their pipeline",
	"CODEX_": "its agent goes by it", "COPILOT_": "its agent goes by it", "GEMINI_": "its agent goes by it",
	"CONCLAUDE_": "the guard gives it to commands", "DBUS_": "notifications", "OPENCLAW_": "the daemon sends with it",
	"GIT_AUTHOR_": "in whose name git writes", "GIT_COMMITTER_": "in whose name git writes", "GIT_INDEX_FILE": "a check may give git an index of its own", "JUST_": "its runner goes by it", "TASK_": "its runner goes by it", "NO_COLOR": "how output looks", "LC_": "the language of output", "TERM_": "how output looks", "TMUX_": "where to type", "SUDO_UID": "counts for root alone",
}

// notVariables are other words in our source that look like variables.
var notVariables = []string{
	"MERGE_HEAD", "MERGE_AUTOSTASH", "GIT_", "GIT_WORK_TREE", "GIT_COMMITTER_IDENT", // files of git's, what git gets of ours, and what it is asked for
	"AGENT_ID", "AGENT_TRANSCRIPT_PATH", "AGENT_TYPE", "CONFIG_DIR", "HOOK_EVENT", "SESSION_ID", "TRANSCRIPT_PATH", // behind CONCLAUDE_
	"INTERVAL_MINUTES", "VERIFY_FIXES", // behind GAUNTLET_STOP_HOOK_
	"SG_", "SGV_", // streams of a fleet
}

// A variable that is new in the source is either one that no project may set for us, or
// another program's.
func TestEveryVariableInTheSourceIsOursOrAnothers(t *testing.T) {
	for name, file := range variables(t, "../../../cmd", "../../../internal") {
		known := slices.ContainsFunc(slices.Collect(maps.Keys(others)), func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		marks := slices.ContainsFunc(agentMarkers(), func(m marker) bool { return m.name == name }) // to drop one frees nothing
		if !Own(name) && !known && !marks && !slices.Contains(notVariables, name) {
			t.Errorf("%s: is %s one that stopgate itself goes by?", file, name)
		}
	}
}

// variables are the string literals below some directories that look like the names of variables,
// each with a file that has it.
func variables(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	like := regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]*)+$`)
	found := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.IsDir() && strings.HasSuffix(entry.Name(), "test") {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(source, func(node ast.Node) bool {
				if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if text, err := strconv.Unquote(literal.Value); err == nil && like.MatchString(text) {
						found[text] = path
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
