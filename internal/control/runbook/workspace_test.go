package runbook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorkspaceDefaults(t *testing.T) {
	inBothFormats(t, func(t *testing.T, format string) {
		agent, faults := agentOf(t, format, `workspace = { git = "worktree" }`)
		if diff := cmp.Diff(Workspace{Kind: Worktree, Keep: KeepOnFailure}, agent.Workspace); diff != "" || len(faults) > 0 {
			t.Errorf("%s%v", diff, faults)
		}
	})
}

// What is wrong with a workspace is found with its place and what to do.
func TestWorkspaceFaults(t *testing.T) {
	for line, want := range map[string]string{
		`workspace = {}`: "workspace needs exactly one of: git, folder",
		`workspace = { git = "worktree", folder = "copy" }`:                "workspace needs exactly one of: git, folder",
		`workspace = { folder = "copy", base = "main" }`:                   "base has no effect for a folder",
		`workspace = { git = "worktre" }`:                                  `unknown git workspace "worktre"`,
		`workspace = { git = "worktree", keep = "on_fail" }`:               `unknown value "on_fail"`,
		`workspace = { git = "worktree", branch = "my branch" }`:           "it contains a space",
		`workspace = { git = "worktree", branch = "a..b" }`:                "is not a valid branch name",
		`workspace = { git = "worktree", branch = "-x" }`:                  "it starts like an option",
		`workspace = { git = "worktree", branch = "a/" }`:                  "it has an empty part",
		`workspace = { git = "worktree", branch = "refs/heads/x" }`:        "has a meaning of its own in git",
		`workspace = { git = "worktree", branch = "a/.b" }`:                `starts with "."`,
		`workspace = { git = "worktree", branch = "a~1" }`:                 `it contains "~"`,
		`workspace = { git = "worktree", branch = "x-${workspace.path}" }`: "${workspace.path} cannot be used in branch",
		`workspace = { git = "worktree", base = "${error}" }`:              "${error} cannot be used in base",
	} {
		inBothFormats(t, func(t *testing.T, format string) {
			_, faults := agentOf(t, format, line)
			if len(faults) != 1 || !strings.Contains(faults.Detail(), want) || !strings.Contains(faults.Error(), "x."+format+":3:") {
				t.Errorf("%s: want %q, got %v", line, want, faults)
			}
		})
	}
	if _, faults := agentOf(t, "toml", `workspace = { git = "worktree", branch = "${agent}/${var.x}-${pipeline_id}", base = "${var.base}" }`); len(faults) > 0 {
		t.Error(faults)
	}
}

// The templates of a workspace need one.
func TestWorkspaceTemplates(t *testing.T) {
	const (
		git    = "workspace = { git = \"worktree\" }\n"
		folder = "workspace = { folder = \"empty\" }\n"
		use    = "[[pipeline.p.step]]\nname = \"a\"\nrun = 'echo \"${workspace.branch}\"'\n"
		run    = "[command.c]\nrun = { pipeline = \"p\" }\n"
		agent  = "[agent.a]\nrun = \"x\"\nprompt = \"in ${workspace.path}\"\n"
		alone  = "[command.c]\nrun = { agent = \"a\" }\n"
		works  = "[[pipeline.p.step]]\nname = \"a\"\nrun = { agent = \"a\" }\n"
	)
	for text, want := range map[string]string{
		run + "[pipeline.p]\n" + git + use:                                       "",
		run + "[pipeline.p]\n" + folder + use:                                    "the workspace of pipeline `p` is a folder without git",
		run + "[pipeline.p]\n" + use:                                             "pipeline `p` has no workspace",
		agent + alone:                                                            "agent `a` of command `c` has no workspace",
		agent + git + alone:                                                      "",
		run + "[pipeline.p]\n" + works + agent:                                   "pipeline `p` has no workspace",
		run + "[pipeline.p]\n" + git + works + agent:                             "",
		run + "[pipeline.p]\n" + works + agent + git:                             "",
		"[command.c]\nrun = 'echo \"${workspace.path}\"'\n":                      "command `c` has no workspace",
		run + "[pipeline.p]\n" + git + strings.ReplaceAll(use, "branch", "root"): "unknown template ${workspace.root}",
	} {
		_, faults := Parse("x.toml", []byte(text), noFile)
		switch want = strings.ReplaceAll(want, "`", `"`); {
		case want == "" && len(faults) > 0:
			t.Errorf("%s\n%v", text, faults)
		case want != "" && (len(faults) != 1 || !strings.Contains(faults.Error(), want)):
			t.Errorf("%s\nwant %s, got %v", text, want, faults)
		}
	}
}

// The name of a branch is other people's words, too.
func TestWorkspaceTemplatesAreQuoted(t *testing.T) {
	const text = "[command.c]\nrun = { agent = \"a\" }\n[agent.a]\nworkspace = { git = \"worktree\" }\nrun = 'x ${workspace.branch} \"${workspace.path}\"'\n"
	_, faults := Parse("x.toml", []byte(text), noFile)
	want := "x.toml:5:10: ${workspace.branch} is not in double quotes, so the shell may run what its value says"
	if faults.Error() != want {
		t.Errorf("%v", faults)
	}
}

// An agent that runs alone has its workspace as the run's.
func TestPlanOfAnAgentWithAWorkspace(t *testing.T) {
	const text = "[command.c]\nrun = { agent = \"a\" }\n[agent.a]\nrun = \"x\"\nworkspace = { folder = \"copy\" }\n"
	book, faults := Parse("x.toml", []byte(text), noFile)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	plan, _ := book.Plan(book.Commands["c"])
	if plan.Pipeline.Workspace.Kind != FolderCopy || plan.Agents["a"].Workspace.Kind != "" || !plan.UsesWorkspaces() {
		t.Errorf("%+v", plan)
	}
}
