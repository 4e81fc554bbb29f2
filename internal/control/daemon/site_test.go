package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/workspace"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// What the engine is told of the place where workspaces are made.
func TestSite(t *testing.T) {
	p := asking(t)
	p.opts.Environ = gittest.Environ(t)
	root := workspace.Root(p.opts.StateDir)
	repo := gittest.New(t)
	repo.Write("api/a", "x")
	commit := repo.Commit("first")
	plan := shellPlan("a")
	site := func(project string) engine.Site {
		return p.site(t.Context(), engine.Create{Project: project, Plan: plan})
	}
	if got := site(repo.Dir); got != (engine.Site{}) {
		t.Errorf("without a workspace: %+v", got)
	}
	plan.Pipeline.Workspace.Kind = runbook.Worktree
	if diff := cmp.Diff(engine.Site{Root: root, Head: "main"}, site(repo.Dir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(engine.Site{Root: root, Head: "main", Within: "api"}, site(repo.Path("api"))); diff != "" {
		t.Error(diff)
	}
	repo.Git("checkout", "-q", "--detach")
	if got := site(repo.Dir).Head; got != commit {
		t.Errorf("detached: %s", got)
	}
	if diff := cmp.Diff(engine.Site{Root: root}, site(t.TempDir())); diff != "" {
		t.Error(diff)
	}
}

// In a workspace, too, a runbook runs the approved scripts, however it names them; other directories
// stay those of the workspace.
func TestRulingT4ScriptsInAWorkspace(t *testing.T) {
	for name, test := range map[string]struct{ run, cwd string }{
		"relative":       {`sh .gauntlet/s/x.sh`, ""},
		"workspace.path": {`sh "${workspace.path}/.gauntlet/s/x.sh"`, ""},
		"project":        {`sh "${project}/.gauntlet/s/x.sh"`, ""},
		"cwd":            {`sh ./x.sh`, ".gauntlet/s"},
		"cwd, by path":   {`sh ./x.sh`, "${workspace.path}/.gauntlet/s"},
		"cwd, elsewhere": {`sh ../.gauntlet/s/x.sh`, "src"},
	} {
		for _, kind := range []string{"step", "agent", "gate"} {
			t.Run(name+" in "+kind, func(t *testing.T) {
				p := asking(t)
				enforce(t, p)
				book := strings.Replace(bookOf(kind, test.run, test.cwd), "[pipeline.p]\n", "[pipeline.p]\nworkspace = { folder = \"copy\" }\n", 1)
				root := project(t, book)
				check(t, os.MkdirAll(filepath.Join(root, ".gauntlet", "s"), 0o755))
				check(t, os.WriteFile(filepath.Join(root, ".gauntlet", "s", "x.sh"), []byte("echo approved\n"), 0o600))
				check(t, trust.NewStore(p.opts.StateDir).Approve(root, time.Now()))
				_, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "go"})
				check(t, err)

				space := p.core.owner(anID).Workspaces[""].Dir
				check(t, os.MkdirAll(filepath.Join(space, ".gauntlet", "s"), 0o755))
				check(t, os.MkdirAll(filepath.Join(space, "src"), 0o755))
				check(t, os.WriteFile(filepath.Join(space, ".gauntlet", "s", "x.sh"), []byte("echo edited\n"), 0o600)) // by an agent
				run, cwd := runsNow(t, p.core, kind)
				if test.cwd == "src" && cwd != filepath.Join(space, "src") {
					t.Errorf("it runs in %s", cwd)
				}
				cmd := exec.Command("sh", "-c", run)
				cmd.Dir = cwd
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "approved\n" {
					t.Errorf("%s in %s: %q, %v", run, cwd, out, err)
				}
			})
		}
	}
}

// A decision shows what was done in the workspace of its step, wherever its agent went.
func TestDetailsOfAWorkspace(t *testing.T) {
	p := asking(t)
	p.opts.Environ, p.opts.Now = gittest.Environ(t), time.Now
	repo := gittest.New(t)
	repo.Write("a.txt", "1\n")
	repo.Commit("first")
	plan := shellPlan("a")
	plan.Pipeline.Workspace = runbook.Workspace{Kind: runbook.Worktree, Branch: "b"}
	in := create(anID, plan)
	c := in.What.(engine.Create)
	c.Project, c.Cwd = repo.Dir, repo.Dir
	c.Site = p.site(t.Context(), c)
	in.What = c
	o := do(t, p.core, anID, in)

	made, err := workspace.New(p.opts.StateDir, p.opts.Environ).Make(t.Context(), anID, *o.Effects[0].Workspace)
	check(t, err)
	made.Key = o.Effects[0].Key
	do(t, p.core, anID, engine.Input{ID: "made", What: made})
	o = do(t, p.core, anID, engine.Input{ID: "lost", What: engine.ShellExited{Key: o.Shell.Key, Lost: true}})
	work := gittest.At(t, o.Workspaces[""].Dir)
	work.Write("b.txt", "1\n2\n")
	work.Commit("add b")
	work.Write("a.txt", "1\n2\n", "new", "x")
	repo.Write("c.txt", "on main")
	repo.Commit("main goes on")

	got := p.details(t.Context(), o, *o.Decision)
	if diff := cmp.Diff([]string{"a.txt | +1 -0", "new | new"}, got.Changes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a.txt | +1 -0", "b.txt | +2 -0", "new | new"}, got.Diff); diff != "" {
		t.Error(diff)
	}
	if len(got.Commits) != 1 || !strings.HasSuffix(got.Commits[0], " add b") || got.Workspace == nil || got.Workspace.Branch != "b" || got.Workspace.Base != "main" {
		t.Errorf("%+v, %+v", got.Commits, got.Workspace)
	}
}
