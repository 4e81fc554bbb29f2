//go:build unix

package stop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func TestRulingT1WithoutGlobalConfigAConfigThatExistsIsRun(t *testing.T) {
	s := newScene(t, failing)
	wantBlock(t, s.stop(nil), "fix it")
	write(t, s.global, "trust: off\n")
	wantBlock(t, s.stop(nil), "fix it")
}

func TestRulingT2ApprovedContentRuns(t *testing.T) {
	s := newScene(t, failing)
	s.enforce()
	s.approve()
	r := s.stop(nil)
	wantBlock(t, r, "fix it")
	if r.Message != "" {
		t.Errorf("told %q", r.Message)
	}
}

func TestRulingT3NeverApprovedRunsNothing(t *testing.T) {
	s := newScene(t, "  Stop:\n    - run: touch ran; exit 1\n")
	s.enforce()
	for _, e := range []hook.Event{hook.Stop, hook.SubagentStop, hook.SessionStart} {
		wantAllow(t, s.call(e, nil), "stopgate trust", `"touch ran; exit 1" on Stop`, s.path(".gauntlet"))
		s.wantVerdict("trust", "could_not_run", "untrusted")
	}
	// Told at every tool call it would be noise; the journal has it all the same.
	wantAllow(t, s.call(hook.PreToolUse, nil))
	s.wantVerdict("trust", "could_not_run", "untrusted")
	if exists(s.path("ran")) {
		t.Error("it ran")
	}
}

func TestRulingT3NothingToRunIsNotWorthAWord(t *testing.T) {
	s := newScene(t, "  {}\n")
	s.enforce()
	wantAllow(t, s.stop(nil))
}

func TestRulingT3UnreadableAndNeverApproved(t *testing.T) {
	s := newScene(t, "")
	s.config("hooks: [\n")
	s.enforce()
	wantAllow(t, s.stop(nil), "stopgate trust", "stopgate validate", s.path(".gauntlet/config.yml")+":1:")
}

func TestRulingT3ManyCommandsAreShortened(t *testing.T) {
	s := newScene(t, "  Stop:\n"+strings.Repeat("    - run: exit 1\n", 9))
	s.enforce()
	wantAllow(t, s.stop(nil), "and 4 more")
}

func TestRulingT4EditedRunsTheApprovedCopy(t *testing.T) {
	edits := map[string]func(s *scene){
		"weaker":    func(s *scene) { s.config("hooks: {}\n") },
		"invalid":   func(s *scene) { s.config("hooks: [\n") },
		"other":     func(s *scene) { s.config("hooks:\n  Stop:\n    - run: touch ran\n") },
		"file gone": func(s *scene) { check(s.t, os.Remove(s.path(".gauntlet/config.yml"))) },
		"all gone":  func(s *scene) { check(s.t, os.RemoveAll(s.path(".gauntlet"))) },
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, failing)
			s.enforce()
			s.approve()
			edit(s)
			r := s.stop(fields{"cwd": s.path(".git")}) // from below too
			wantBlock(t, r, "fix it")
			if !strings.Contains(r.Message, "the approved files run instead") || !strings.Contains(r.Message, "config.yml") || !strings.Contains(r.Message, "stopgate trust") {
				t.Errorf("told %q", r.Message)
			}
			if exists(s.path("ran")) {
				t.Error("what nobody approved ran")
			}
			s.wantVerdict("trust", "passed", "edited")
		})
	}
}

// An agent may not leave an approved project by making one of its own.
func TestRulingT4ApprovedProjectComesBeforeOthers(t *testing.T) {
	for name, folder := range map[string]string{"below": "sub", "in a repository of its own": "sub", "beside": "../other"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, failing)
			s.enforce()
			s.approve()
			dir := s.path(folder)
			check(t, os.MkdirAll(filepath.Join(dir, ".gauntlet"), 0o700))
			write(t, filepath.Join(dir, ".gauntlet", "config.yml"), "hooks: {}\n")
			if name == "in a repository of its own" {
				check(t, os.Mkdir(filepath.Join(dir, ".git"), 0o700))
			}
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.root)
			wantBlock(t, s.stop(fields{"cwd": dir}), "fix it")
		})
	}
}

func TestRulingT4EditedScriptRunsFromTheApprovedCopy(t *testing.T) {
	s := newScene(t, "  Stop:\n    - run: sh .gauntlet/check.sh\n")
	write(t, s.path(".gauntlet/check.sh"), "echo as approved; exit 1\n")
	s.enforce()
	s.approve()
	write(t, s.path(".gauntlet/check.sh"), "exit 0\n")
	wantBlock(t, s.stop(nil), "as approved")
}

func TestRulingT4WithoutTrustADeletedConfigIsGone(t *testing.T) {
	s := newScene(t, failing)
	write(t, s.global, "trust: \"off\"\n")
	s.approve()
	check(t, os.RemoveAll(s.path(".gauntlet")))
	wantAllow(t, s.stop(nil))
}

// It holds back an agent only where gates were failing, see cli's trust_damaged.
func TestADamagedApprovalAloneBlocksNothing(t *testing.T) {
	s := newScene(t, failing)
	s.enforce()
	s.approve()
	s.damage()
	wantAllow(t, s.stop(nil), "damaged", "stopgate trust")
	s.wantVerdict("trust", "could_not_run", "damaged_approval")
}

// Whether gates were failing is not known where the ledger is damaged, too. Two files that are
// damaged free no more than one.
func TestE6ADamagedApprovalWithADamagedLedgerHolds(t *testing.T) {
	t.Parallel()
	s := newScene(t, failing)
	s.enforce()
	s.approve()
	s.damage()
	write(t, filepath.Join(filepath.Dir(ledger.Open(s.state, s.root).IndexFile()), "ledger.json"), "{")
	wantBlock(t, s.stop(nil), "Ask a person to approve")
	s.wantVerdict("trust", "failed", "damaged_approval")
	s.call(hook.PreToolUse, nil)
	if got := s.answered().Decision; got != "allow" { // it holds a stop, not the work
		t.Errorf("a tool call: %s", got)
	}
}

func TestInvalidConfigNeverBlocks(t *testing.T) {
	for _, text := range []string{"hooks: [\n", "hoks: {}\n", "hooks:\n  Stop:\n    - {run: exit 1, on_failure: explode}\n", "\x00"} {
		s := newScene(t, "")
		s.config(text)
		wantAllow(t, s.stop(nil), "config.yml", "stopgate validate")
		s.wantVerdict("config", "could_not_run", "invalid_config")
	}
}

// The defaults hold in place of a global config that cannot be read, and the
// person is told. But where it asked for approval, nothing runs without one.
func TestInvalidGlobalConfig(t *testing.T) {
	for _, text := range []string{"trust: [\n", "trust: maybe\n", "unknown: 1\n"} {
		s := newScene(t, "  Stop:\n    - run: \"true\"\n")
		write(t, s.global, text)
		wantAllow(t, s.stop(nil), s.global, "defaults")
		s.wantVerdict("config", "could_not_run", "invalid_config")
		s.wantVerdict("guard", "passed", "passed")
	}
	for _, text := range []string{"trust: enforce\nunknown: 1\n", "trust: enfroce\n", "trust: {enforce\n"} {
		s := newScene(t, failing)
		write(t, s.global, text)
		wantAllow(t, s.stop(nil), s.global, "never approved")
		s.wantVerdict("trust", "could_not_run", "untrusted")
	}
}

func TestOutsideAnyProjectNothingIsSaid(t *testing.T) {
	s := newScene(t, "")
	r := s.stop(nil)
	if len(r.Stdout) > 0 || r.Code != 0 || s.stderr.String() != "" {
		t.Errorf("got %+v, %q", r, s.stderr.String())
	}
	if s.answered().Decision != "allow" {
		t.Error("not journaled")
	}
}

// damage makes every approval unreadable.
func (s *scene) damage() {
	s.t.Helper()
	for _, name := range []string{"approval.json", "spare.json"} {
		files, err := filepath.Glob(filepath.Join(s.state, "trust/*", name))
		check(s.t, err)
		if len(files) == 0 {
			s.t.Fatal("there is no approval")
		}
		for _, file := range files {
			write(s.t, file, "{")
		}
	}
}

// What is in force is read from the approved copy also where the project is as approved: an
// agent can change it after it was compared.
func TestRulingT2WhatWasComparedIsWhatRuns(t *testing.T) {
	s := newScene(t, failing)
	s.enforce()
	s.approve()
	global := &config.Global{Trust: config.TrustEnforce}
	p := Locator{StateDir: s.state, Global: global}.Locate(s.root, true)
	if p.Project == nil || len(p.Verdicts) > 0 {
		t.Fatalf("got %+v", p)
	}
	if in, err := filepath.Rel(s.state, p.Project.ConfigDir); err != nil || !filepath.IsLocal(in) {
		t.Errorf("the configuration is read from %s, where an agent can write", p.Project.ConfigDir)
	}
	if p.Project.Approval == "" || p.Project.Content == nil {
		t.Errorf("the gates run without the approved files: %+v", p.Project)
	}
}

// Without trust an agent can delete a configuration whose gates fail. A person is told.
func TestAConfigThatIsDeletedWhileRedIsTold(t *testing.T) {
	s := newScene(t, failing)
	open := func(state *ledger.State) error {
		state.Open = []ledger.Failure{{Job: "check:.:t"}}
		return nil
	}
	check(t, ledger.Open(s.state, s.root).Update(t.Context(), open))
	check(t, os.RemoveAll(s.path(".gauntlet")))
	wantAllow(t, s.stop(nil), s.path(".gauntlet/config.yml")+" is gone", "check:.:t")
	s.wantVerdict("config", "could_not_run", "no_config")
	check(t, os.Mkdir(s.path("below"), 0o755))
	wantAllow(t, s.stop(fields{"cwd": s.path("below")}), "is gone")
	wantAllow(t, s.call(hook.PreToolUse, nil)) // at every tool call it would be noise

	// Where nothing failed, nothing is said.
	check(t, ledger.Open(s.state, s.root).Update(t.Context(), func(state *ledger.State) error {
		state.Open = nil
		return nil
	}))
	wantAllow(t, s.stop(nil))
}

// Not even what it would run is read, unless git's configuration of the user who calls says that it is safe.
func TestE18AnotherUsersProjectIsNotRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	s := newWork(t)
	s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.root)
	other := filepath.Join(filepath.Dir(s.root), "other")
	s.repository(other, "entry_points:\n  - path: .\n    checks:\n      - {name: t, command: another-users-command}\n")
	s.prompt("do it", nil)
	stay := fields{"cwd": other}
	wantAllow(t, s.stop(stay), "another-users-command")

	check(t, os.Lchown(filepath.Join(other, ".gauntlet"), 54321, 54321))
	if r := s.stop(stay); strings.Contains(r.Message, "another-users-command") || !strings.Contains(r.Message, "belongs to user 54321") {
		t.Errorf("told %q", r.Message)
	}
	check(t, os.Lchown(s.path(".gauntlet"), 54321, 54321))
	if place := (Locator{StateDir: s.state, Global: &config.Global{}, Environ: s.env}).Locate(s.root, true); place.Project != nil {
		t.Error("the project is entered")
	}

	home := t.TempDir()
	write(t, filepath.Join(home, ".gitconfig"), "[safe]\n\tdirectory = *\n")
	s.env = append(s.env, "HOME="+home)
	r := s.stop(stay)
	if wantAllow(t, r, "another-users-command"); strings.Contains(r.Message, "belongs to") {
		t.Errorf("told %q", r.Message)
	}
}

// No command of ours was there to turn trust on where a plugin of the client calls us: the first call does,
// unless a person has decided about it.
func TestIssue19APluginRunsOnlyWhatIsApproved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plugin string // its name
		global string
		blocks bool
		after  string // the global config has this
	}{
		"no global config":     {"stopgate", "", false, "\ntrust: enforce\n"},
		"nothing about trust":  {"stopgate", "retention: {}\n", false, "retention: {}\ntrust: enforce\n"},
		"a person decided":     {"stopgate", "trust: \"off\"\n", true, "trust: \"off\"\n"},
		"in quotes":            {"stopgate", "\"trust\" : \"off\"\n", true, "\"trust\" : \"off\"\n"},
		"an invalid one stays": {"stopgate", "trust: 7\n", false, "trust: 7\n"},
		"another plugin":       {"other", "retention: {}\n", true, "retention: {}\n"}, // whose hook has started the client
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, failing)
			plugin := t.TempDir()
			write(t, filepath.Join(plugin, ".claude-plugin", "plugin.json"), `{"name": "`+tt.plugin+`"}`)
			s.env = append(s.env, "CLAUDE_PLUGIN_ROOT="+plugin)
			if tt.global != "" {
				write(t, s.global, tt.global)
			}
			if r := s.stop(nil); r.blocks() != tt.blocks {
				t.Errorf("blocks %t: %s", r.blocks(), r.Stdout)
			}
			if text := checktest.Read(t, s.global); !strings.Contains(text, tt.after) || tt.plugin == "other" && text != tt.global {
				t.Errorf("the global config is %q", text)
			}
		})
	}
}

// Giving a red project away frees the agent of it as little as damage to its approval. Who was never refused there
// is only told.
func TestE18GivingARedProjectAwayClosesNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for name, elsewhere := range map[string]bool{"the project": false, "a worktree that the agent has left": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := s.root
			if elsewhere {
				dir = s.linked("wt")
			}
			give := func(uid int) { check(t, os.Lchown(dir, uid, -1)) }
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
			give(54321)
			for range 4 {
				wantBlock(t, s.stop(nil), "Restore its previous owner")
				s.wantVerdict("owner", "failed", "foreign_owner")
			}
			wantAllow(t, s.stop(fields{"session_id": "another", "cwd": dir}), "belongs to user 54321")
			give(0)
			wantBlock(t, s.stop(nil), "check:.:t")
			check(t, os.Remove(filepath.Join(dir, "red")))
			wantAllow(t, s.stop(nil))
			give(54321)
			wantAllow(t, s.stop(fields{"cwd": dir}), "belongs to user 54321")
		})
	}
}
