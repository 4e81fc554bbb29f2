package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// gates finds what keeps the gates from judging the tree: a program that is not there, a
// review that no reviewer makes, a git that does not answer.
func (e *examination) gates(ctx context.Context) {
	if e.commands == 0 {
		return
	}

	global, globalErr := trust.LoadGlobal(e.GlobalPath, e.StateDir)
	place := stop.Locator{StateDir: e.StateDir, Global: global, GlobalErr: globalErr, Environ: e.ownEnviron()}.Locate(e.Root, true)
	if place.Project == nil {
		for _, o := range place.Verdicts {
			e.find(Dead, o.Keeper, o.Message, "")
		}
		return
	}
	e.jobs = gauntlet.Jobs(place.Project, e.hookEnviron())
	e.idle(place.Project)
	e.directories()

	// A reviewer takes instructions from where it is started, so that is not the project.
	dir, err := os.MkdirTemp("", "stopgate-doctor-*")
	if err != nil {
		e.find(Dead, "review", err.Error(), "")
		return
	}
	defer os.RemoveAll(dir)

	health := Survey{Project: place.Project, Environ: os.Environ(), Gates: e.hookEnviron(), StateDir: e.StateDir, Needs: e.Needs, ReviewDir: dir, Ask: true}.CheckHealth(ctx)
	for _, m := range health.Missing {
		text := "%s needs %s, which is missing: it checks nothing"
		if m.Conditional {
			text = "%s may need %s, which is missing"
		}
		e.find(Dead, "check", fmt.Sprintf(text, m.Gate, m.Program), "install or add it, or change the command")
	}
	for _, u := range health.Unsure {
		e.find(Unsure, "check", fmt.Sprintf("cannot tell whether %s in %s can run", u.Command, u.Gate), u.Remedy())
	}
	e.reviews(health, len(place.Project.Gates.Reviews()))

	if !health.Git.OK {
		e.find(Dead, "git", health.Git.Says, "install git: stopgate needs it to see changes")
		return
	}
	if _, set := e.environment["PATH"]; set {
		e.hidden("git", "sh")
	}
	if place.Project.Config.HasGates() {
		e.tree(ctx, gauntlet.Options{
			Project: place.Project, Global: global, StateDir: e.StateDir, Environ: os.Environ(), Now: time.Now,
			Scope: gauntlet.ScopeOf(e.hookEnviron()),
		})
		e.notes(ctx, place.Project)
	}
}

// hidden finds programs that are not on the PATH that the settings set for hooks.
func (e *examination) hidden(programs ...string) {
	for _, program := range programs {
		if _, err := e.lookPath(program); err != nil {
			e.find(Dead, program, program+" is not on the PATH that the settings set for hooks", "correct PATH in env in the settings")
		}
	}
}

// idle reports a project whose gates all run elsewhere.
func (e *examination) idle(project *keeper.Project) {
	external := len(project.Config.Gauntlet.StopHook.Runner) > 0
	if external || len(project.Gates.EntryPoints) == 0 || gauntlet.AnyRuns(project, e.hookEnviron()) {
		return
	}
	level := Dead
	if len(e.project.Hooks[hook.Stop]) > 0 {
		level = Warn // which check the stop
	}
	e.find(level, "gates", "no gate runs here: each has run_locally: false, or in CI run_in_ci: false", "let one of them run here, in "+paths.ProjectConfig(e.Root))
}

// directories finds checks that cannot start where they should run. That an entry point has no folder yet is said elsewhere.
func (e *examination) directories() {
	said := map[string]bool{}
	for _, job := range e.jobs {
		if job.Check == nil || job.Check.WorkingDirectory == "" || said[job.Dir] || disk.IsDir(filepath.Join(e.Root, filepath.FromSlash(job.Dir))) {
			continue
		}
		said[job.Dir] = true
		e.find(Dead, "check", fmt.Sprintf("%s runs in %s, which is not a directory: it checks nothing", job.ID(), plain.Name(job.Dir)), "create it, or correct working_directory")
	}
}

// notes reports where the configuration checks less than it seems to. An entry point without files may be a new package or a
// typo; only a person can tell, so doctor is unsure.
func (e *examination) notes(ctx context.Context, project *keeper.Project) {
	notes, _ := gauntlet.Notes(ctx, project, e.ownEnviron()) // what git cannot list was found before
	for _, note := range notes {
		level := Warn
		if note.Idle {
			level = Unsure
		}
		e.find(level, note.Key, note.Text, "if you did not mean that, edit "+paths.ProjectConfig(e.Root))
	}
}

func (e *examination) reviews(health Health, n int) {
	for _, name := range health.Stranded {
		e.find(Dead, "review", name+" has no working reviewer", "stopgate health")
	}
	if n > 0 && len(health.Stranded) == 0 {
		e.find(OK, "review", "every review has a working reviewer", "")
	}
	for _, r := range health.Reviewers {
		level := OK
		if !r.OK {
			level = Warn
		}
		e.find(level, "review", r.Name+": "+r.Words(), "")
	}
}

// tree looks at the working tree as a stop does.
func (e *examination) tree(ctx context.Context, options gauntlet.Options) {
	_, repository := paths.GitRoot(e.Root)
	if _, err := git.At(e.Root, options.Environ).Status(ctx); err != nil && repository {
		e.find(Dead, "git", err.Error(), "git -C "+settings.ShellCommand(e.Root)+" status")
		return
	}
	found, err := gauntlet.Detect(ctx, options)
	switch {
	case err != nil:
		e.find(Dead, "tree", fmt.Sprintf("cannot read the working tree %s: %v", e.Root, err), "stopgate detect")
	case !repository:
		e.find(Warn, "tree", e.Root+" is not in a git repository: every file counts as changed", "git init")
	default:
		e.find(OK, "tree", fmt.Sprintf("git works; changed files: %d", len(found.Files)), "")
		if found.Baseless {
			e.baseless(ctx, options, found)
		}
	}
	if found.Limit {
		e.find(Unsure, "retry limit", "reached: "+ledger.LimitEnds, ledger.LimitRemedy)
	}
}

// baseless tells what follows from a base that is missing, and what would do for one.
func (e *examination) baseless(ctx context.Context, options gauntlet.Options, found gauntlet.Detection) {
	text := found.Note
	if len(options.Project.Gates.Reviews()) > 0 {
		text += ", and reviews see all of them"
	}
	into := " to " + paths.ProjectConfig(e.Root) + ", then: stopgate trust"
	hint := "git remote set-head origin --auto"
	if found.Base != "" {
		hint = "git fetch --unshallow"
	}
	hint += ", or add the branch that work starts from as base_branch" + into
	base := LikelyBase(ctx, git.At(e.Root, options.Environ), options.Project.Config.Gauntlet.BaseBranch)
	if base != "" && found.Base == "" {
		hint = fmt.Sprintf("add \"base_branch: %s\"%s", base, into)
	}
	e.find(Warn, "base", text, hint)
}

// LikelyBase is the branch that the one with the configured name, or with a usual one, is most
// likely meant to be; empty where there is none.
func LikelyBase(ctx context.Context, repo git.Repo, configured string) string {
	likely := []string{"origin/main", "origin/master", "main", "master"}
	if configured != "" {
		likely = append([]string{"origin/" + configured}, likely...)
	}
	for _, branch := range likely {
		if _, _, err := repo.Commit(ctx, branch); err == nil {
			return branch
		}
	}
	return ""
}
