package launch

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/settings"
)

func TestShadows(t *testing.T) {
	key := map[string]string{"ANTHROPIC_AUTH_TOKEN": "t", "N": "5"}
	for _, tt := range []struct {
		name, text string
		provider   map[string]string
		want       []string
	}{
		{"none", `{"env":{"EDITOR":"vi"}}`, key, nil},
		{"no env", `{}`, key, nil},
		{"the same value", `{"env":{"ANTHROPIC_AUTH_TOKEN":"t","N":5}}`, key, nil},
		{"another value", `{"env":{"ANTHROPIC_AUTH_TOKEN":"u","N":"6"}}`, key, []string{"ANTHROPIC_AUTH_TOKEN", "N"}},
		{"another endpoint", `{"env":{"ANTHROPIC_BASE_URL":"u","CLAUDE_CODE_USE_BEDROCK":1,"CLAUDE_CODE_DISABLE_X":"1"}}`, key, []string{"ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK"}},
		{"a provider that chooses nothing", `{"env":{"ANTHROPIC_BASE_URL":"u"}}`, map[string]string{"X": "1"}, nil},
		{"a variable of its own all the same", `{"env":{"ANTHROPIC_BASE_URL":"u","X":"2"}}`, map[string]string{"X": "1"}, []string{"X"}},
		{"what sets nothing", `{"env":{"ANTHROPIC_BASE_URL":null,"ANTHROPIC_MODEL":{}}}`, key, nil},
		{"a file that the client drops", `{"env":{"ANTHROPIC_BASE_URL":"u"}`, key, nil},
		{"a mark", "\xef\xbb\xbf" + `{"env":{"N":"6"}}`, key, []string{"N"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := readSettingsFile(write(t, tt.text, t.TempDir(), "settings.json"))
			if diff := cmp.Diff(tt.want, f.shadows(tt.provider)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShadowsNameFilesAndKeysNeverValues(t *testing.T) {
	dir := t.TempDir()
	user := write(t, `{"env":{"ANTHROPIC_API_KEY":"s3cr3t"}}`, dir, "user", "settings.json")
	project := write(t, `{"env":{"ANTHROPIC_MODEL":"m0d3l"}}`, dir, "git", "sub", ".claude", "settings.json")
	local := write(t, `{"env":{"ANTHROPIC_BASE_URL":"h0st"}}`, dir, "git", ".claude", "settings.local.json")
	write(t, "", dir, "git", ".git", "HEAD")
	write(t, "../..\n", dir, "git", ".git", "worktrees", "linked", "commondir")
	write(t, "gitdir: "+dir+"/git/.git/worktrees/linked\n", dir, "linked", ".git")
	if files := settingsFiles(user, dir+"/linked"); !slices.ContainsFunc(files, func(f settingsFile) bool { return f.path == local }) {
		t.Errorf("in a linked worktree the main one's is missing: %v", files)
	}
	managed, err := settings.Path(settings.Managed, "")
	must(t, err)
	if files := settingsFiles(user, dir); files[len(files)-1].path != managed {
		t.Errorf("the administrator's is not the last: %v", files)
	}
	err = checkShadows(settingsFiles(user, dir+"/git/sub"), &Config{Path: "/x/ccc.json"}, "glm", map[string]string{"ANTHROPIC_AUTH_TOKEN": "t0k3n"})
	e, ok := errors.AsType[ConfigError](err)
	if !ok {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"env in " + user + " would override what provider glm sets: ANTHROPIC_API_KEY",
		"env in " + project + " would override what provider glm sets: ANTHROPIC_MODEL",
		"env in " + local + " would override what provider glm sets: ANTHROPIC_BASE_URL",
	}, "\n")
	if diff := cmp.Diff(want, e.Error()); diff != "" {
		t.Error(diff)
	}
	if e.Hint != "remove them there, or move them to providers.glm.env in /x/ccc.json" {
		t.Errorf("hint %q", e.Hint)
	}
}

func TestHooksDisabled(t *testing.T) {
	for _, tt := range []struct {
		texts []string
		want  int // index of the file; -1 for none
	}{
		{[]string{`{}`, `{}`}, -1},
		{[]string{`{"disableAllHooks":true}`, `{}`}, 0},
		{[]string{`{"disableAllHooks":true}`, `{"disableAllHooks":false}`}, -1},
		{[]string{`{"disableAllHooks":false}`, `{"disableAllHooks":true}`}, 1},
		{[]string{`{"disableAllHooks":"true"}`, `{`}, -1},
	} {
		var files []settingsFile
		want := ""
		for i, text := range tt.texts {
			files = append(files, readSettingsFile(write(t, text, t.TempDir(), "settings.json")))
			if i == tt.want {
				want = files[i].path
			}
		}
		if got := hooksDisabled(files); got != want {
			t.Errorf("%q: %q", tt.texts, got)
		}
	}
}
