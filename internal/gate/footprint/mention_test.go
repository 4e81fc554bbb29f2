package footprint

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"":                               false,
		"wt":                             true,
		`{"c":"git worktree add ../wt"}`: true,
		`cd wt && make`:                  true,
		`wt/f.go`:                        true,
		`wt.`:                            true,
		`ls\nwt\nother`:                  true,
		`a\twt`:                          true,
		"not-wt":                         false,
		"wt-2":                           false,
		"wt2 my_wt .wt newt":             false,
		"wt2 and then wt":                true,
		"wtwt wt":                        true,
	} {
		if got := mentions([]byte(text), "wt"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if mentions([]byte("anything"), "") {
		t.Error("an empty name")
	}
}

// A worktree is known by what leads to it, not by a word that is its name as well.
func TestE5AWorktreeIsAPlaceNotAWord(t *testing.T) {
	above := filepath.Join(t.TempDir(), "code")
	top, project := filepath.Join(above, "fix"), filepath.Join(above, "project")
	for _, dir := range []string{filepath.Join(top, "src"), filepath.Join(project, "docs"), filepath.Join(above, "docs", "src")} {
		check(t, os.MkdirAll(dir, 0o755))
	}
	say := func(key, text string) string {
		line, err := json.Marshal(map[string]string{key: text})
		check(t, err)
		return string(line) + "\n"
	}
	command := func(text string) string { return say("command", text) }
	for text, want := range map[string]bool{
		// What a session says and does that has nothing to do with the worktree.
		`{"type":"tool_use","name":"EnterWorktree","input":{"prompt":"go and fix it"}}`: false,
		say("content", "please fix the cart"):                                           false,
		say("content", "fix"):                                                           false,
		say("text", "I will fix it. Then: fix/improve the tests; fix, and/or fix"):      false,
		say("content", "review how a worktree is handled, and fix the tests"):           false,
		say("content", "/fix 12"):                                                       false,
		say("content", "<command-name>/fix</command-name>"):                             false,
		command(`git commit -m "fix the cart"`):                                         false,
		command(`git commit -m fix`):                                                    false,
		command(`git switch -c fix/cart`):                                               false,
		command(`npm run fix && eslint --fix .`):                                        false,
		command("make\nfix"):                                                            false,
		say("new_string", `app.get("/fix", fix) // src/fix/fix.go`):                     false,
		say("new_string", `app.get('/fix', fix)`):                                       false,
		say("content", "1a2b3c fix the cart\n4d5e6f fix: rounding"):                     false,
		say("gitBranch", "fix"):                                                         false,
		`{"name":"Grep","input":{"pattern":"fix"}}`:                                     false,
		say("content", "branches are feat/..., fix/... or fix/"):                        false,
		command("git branch --list 'fix/*'; git switch fix/$ISSUE"):                     false,
		command("ls fix/../docs fix/.."):                                                false,
		command("python3 ./fix.py && $DIR/fix.sh ../fix.go"):                            false,

		// How it makes one.
		command("git worktree add fix"):                                                         true,
		command("git worktree add -q -b x fix && echo made"):                                    true,
		command("git -C project worktree add ../fix"):                                           true,
		command("N=fix\ngit worktree add \"../$N\""):                                            true,
		command("for n in a fix; do git worktree add ../$n; done"):                              true,
		command("./scripts/new-worktree.sh fix"):                                                true,
		say("cmd", "./scripts/new-worktree.sh fix"):                                             true,
		command("claude --worktree fix -p 'go on'"):                                             true,
		command("claude --worktree=fix"):                                                        true,
		say("content", "#!/bin/sh\nname=fix\ngit worktree add ../$name"):                        true,
		say("content", `subprocess.run(["git", "worktree", "add", name("fix")])`):               true,
		`{"type":"tool_use","name":"EnterWorktree","input":{"name":"fix"}}`:                     true,
		`{"type":"tool_use","name":"mcp__git__worktree_add","input":{"branch":"x","at":"fix"}}`: true,

		command("./New-Worktree.ps1 fix"):                                   true,
		command("git --work-tree=../$N add .; N=fix"):                       true,
		say("content", "#!/bin/sh\nname=fix\ngit worktree move x ../$name"): true,
		say("content", "#!/bin/sh\nname=fix\ngit worktree repair ../$name"): true,
		say("content", "the worktree additions fix it"):                     false,

		// How it goes there and works there.
		command("cd fix && make"):                         true,
		command("ls\ncd fix"):                             true,
		command(`cd "fix"`):                               true,
		command(`cd -- 'fix'; touch red`):                 true,
		command("pushd fix"):                              true,
		command("git -C fix commit -qam wip"):             true,
		command("make --directory=fix"):                   true,
		command("touch ../fix/red"):                       true,
		command("ls\n../fix/run"):                         true,
		command("cd .. && touch fix/src/cart.go fix/src"): true,
		command("cp -r fix/. elsewhere"):                  true,
		command(`touch "$DIR/fix/red"`):                   true,
		command(`touch "$DIR"/fix/red`):                   true,
		command("touch ${DIR}/fix/red"):                   true,
		command(`touch "$(dirname "$PWD")/fix/red"`):      true,
		command("touch ~/fix/red"):                        true,
		command("touch /home/me/code/fix/red"):            true,
		say("cwd", top):                                   true,
		say("cwd", `C:\Users\me\code\fix`):                true,
		"cd ../fix":                                       true,
	} {
		if got := Uses([]byte(text), top, []string{project}); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}

	for name, tt := range map[string]struct {
		top, text string
		stands    []string
		want      bool
	}{
		"a folder of the project has the same name":           {filepath.Join(above, "docs"), command("touch docs/src"), []string{project}, false},
		"and still it is led to from outside":                 {filepath.Join(above, "docs"), command("touch ../docs/new"), []string{project}, true},
		"the agent stands above it":                           {top, command("rm fix/gone.go"), []string{above}, true},
		"the agent stands above it, and where another one is": {filepath.Join(above, "docs"), command("rm docs/gone"), []string{project, above}, true},
		"it is in the project":                                {filepath.Join(project, "fix"), command("rm fix/gone.go"), []string{project}, true},
		"it is where the client makes its worktrees":          {filepath.Join(project, ".claude", "worktrees", "fix"), say("cwd", "/w/project/.claude/worktrees/fix"), []string{project}, true},
	} {
		if got := Uses([]byte(tt.text), tt.top, tt.stands); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// BenchmarkMentions looks for a name that a long transcript does not have, but often nearly.
func BenchmarkMentions(b *testing.B) {
	line := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"the wt-fix was made, cd ../project/packages/app && go test ./..."}]}}` + "\n")
	text := bytes.Repeat(line, (55<<20)/len(line))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		mentions(text, "wt-fix-2")
	}
}

// BenchmarkUses looks for a worktree whose name is in every line as a word.
func BenchmarkUses(b *testing.B) {
	line := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"the fix was made, cd ../project/packages/app && go test ./..., and fix/that"}]}}` + "\n")
	text := bytes.Repeat(line, (55<<20)/len(line))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Uses(text, "/nowhere/fix", []string{"/nowhere/project"})
	}
}
