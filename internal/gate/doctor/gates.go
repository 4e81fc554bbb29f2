package doctor

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// gates finds what keeps the gates from judging the tree: a program that is not there, a
// review that no reviewer makes, a git that does not answer.
func (e *examination) gates(ctx context.Context) {
	if e.commands == 0 {
		return
	}

	global, globalErr := trust.LoadGlobal(e.GlobalPath, e.StateDir)
	place := stop.Locator{StateDir: e.StateDir, Global: global, GlobalErr: globalErr, Environ: os.Environ()}.Locate(e.Root, true)
	if place.Project == nil {
		for _, o := range place.Verdicts {
			e.find(Dead, o.Keeper, o.Message, "")
		}
		return
	}
	e.jobs = gauntlet.Jobs(place.Project, os.Environ())

	// A reviewer takes instructions from where it is started, so that is not the project.
	dir, err := os.MkdirTemp("", "stopgate-doctor-*")
	if err != nil {
		e.find(Dead, "review", err.Error(), "")
		return
	}
	defer os.RemoveAll(dir)

	health := Survey{Project: place.Project, Environ: os.Environ(), StateDir: e.StateDir, Needs: e.Needs, ReviewDir: dir, Ask: true}.CheckHealth(ctx)
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
	if place.Project.Config.HasGates() {
		e.tree(ctx, gauntlet.Options{
			Project: place.Project, Global: global, StateDir: e.StateDir, Environ: os.Environ(), Now: time.Now,
			Scope: gauntlet.ScopeOf(os.Environ()),
		})
		e.notes(ctx, place.Project)
	}
}

// notes finds what the configuration checks less than it seems to. A gate that no file leads to may wait for its first one, as
// in a new project, or never run because of a typo: nobody but a person can tell.
func (e *examination) notes(ctx context.Context, project *keeper.Project) {
	notes, _ := gauntlet.Notes(ctx, project, os.Environ()) // what git cannot list was found before
	for _, note := range notes {
		level := Warn
		if note.Idle {
			level = Unsure
		}
		e.find(level, note.Key, note.Text, "correct it in "+paths.ProjectConfig(e.Root)+", if that is not what you want")
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
