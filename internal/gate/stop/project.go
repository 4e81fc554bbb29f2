package stop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/owner"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Place is a project, if it may act, and what is to be said about it before any
// keeper is asked.
type Place struct {
	Root     string
	Project  *keeper.Project // nil when nothing of it may act
	Off      bool            // no keeper may act here
	Verdicts []keeper.Verdict
	Held     *keeper.Verdict // holds the agent back although no keeper may look; nil where nothing does
	foreign  error           // says whose it is, where it is another user's
}

func (p *Place) cannot(who, status, message string) {
	p.Project = nil
	p.Verdicts = append(p.Verdicts, couldNotRun(who, status, message))
}

// Locator decides what of a project's configuration is in force.
type Locator struct {
	StateDir  string
	Global    *config.Global
	GlobalErr error // the defaults are in Global then
	Environ   []string
}

func (c *call) locator() Locator { return Locator{c.StateDir, c.global, c.globalErr, c.Environ} }

// root finds the project of a call; empty when it belongs to none. Where trust is
// enforced, an approved project comes before any other: an agent that writes a
// configuration of its own into a folder and goes there, or deletes the approved
// one, is still in the approved project.
func (c *call) root(payload hook.Payload) string {
	if root := c.rootFrom(c.starts(payload)); root != "" {
		return root
	}
	// The agent may have gone through a link into a project.
	if real, err := filepath.EvalSymlinks(payload.Common().CWD); err == nil && real != payload.Common().CWD {
		return c.rootFrom([]string{real})
	}
	return ""
}

func (c *call) rootFrom(starts []string) string {
	dirs := paths.Candidates(starts...)
	c.passed = append(c.passed, dirs...)
	if c.enforces() {
		if i := slices.IndexFunc(dirs, trust.NewStore(c.StateDir).Gated); i >= 0 {
			return dirs[i]
		}
	}
	if i := slices.IndexFunc(dirs, paths.HasConfig); i >= 0 {
		return dirs[i]
	}
	return ""
}

func (c *call) enforces() bool { return c.global.Enforces() }

// locate is the place of a call. During a recess no keeper may act.
func (c *call) locate(root string, payload hook.Payload) Place {
	e := payload.Event()
	if root == "" {
		return Place{Verdicts: c.orphaned(e)}
	}
	if recess, on := InRecess(c.StateDir, root, c.Now()); on {
		p := Place{Root: root, Off: true}
		p.cannot("off", "off", offMessage(recess))
		return p
	}
	return c.locator().Locate(root, e == hook.Stop)
}

// orphaned says that gates were failing in a place that has no configuration any
// more: without trust an agent can delete it.
func (c *call) orphaned(e hook.Event) []keeper.Verdict {
	if _, err := os.Stat(filepath.Join(c.StateDir, "ledger")); e != hook.Stop || err != nil {
		return nil
	}
	for _, dir := range c.passed {
		state, err := ledger.Open(c.StateDir, dir).Read()
		if err != nil || len(state.Open) == 0 {
			continue
		}
		message := fmt.Sprintf("%s is gone, and its gates were failing (%s)", paths.ProjectConfig(dir), state.Open[0].Job)
		return []keeper.Verdict{couldNotRun("config", string(gauntlet.NoConfig), message)}
	}
	return nil
}

// Locate decides what is in force in the project at root: the approved content
// where trust is enforced, the files as they are elsewhere. Gates are read only
// for those who ask: tool events come often.
func (l Locator) Locate(root string, withGates bool) Place {
	p := Place{Root: root}
	if l.GlobalErr != nil {
		p.cannot("config", "invalid_config", firstLine(l.GlobalErr)+"; invalid sections fall back to the defaults (all errors: stopgate validate)")
	}
	if err := owner.Check(root, l.Environ); err != nil {
		p.disown(err)
		return p
	}

	live := filepath.Join(root, paths.GauntletDir)
	source := live
	var standing trust.Standing
	absent := false
	if l.Global.Enforces() {
		var ok bool
		if standing, ok = p.trusted(trust.NewStore(l.StateDir), live); !ok {
			if withGates && standing.State == trust.Damaged {
				p.hold(l.StateDir)
			}
			return p
		}

		absent = standing.Absent(l.Environ)
		p.edited(standing, absent)
		source = standing.Dir // so that nobody can change it after it was compared
		if _, err := os.Lstat(filepath.Join(source, paths.ConfigFile)); errors.Is(err, fs.ErrNotExist) {
			return p // only runbooks were approved
		}
	}

	project, err := read(source, live, withGates)
	if err != nil {
		p.cannot("config", "invalid_config", firstLine(err)+" (all errors: stopgate validate)")
		return p
	}

	project.Root, project.ConfigDir, project.Approval, project.Content = root, source, standing.ID, standing.Content
	project.Edited, project.Absent = standing.Changed, absent
	p.Project = project
	return p
}

// unapproved is a project that was never approved, and in which an agent works all the same.
func (l Locator) unapproved(root string) Place {
	p := Place{Root: root}
	if err := owner.Check(root, l.Environ); err != nil {
		p.disown(err)
		return p
	}
	p.distrust(filepath.Join(root, paths.GauntletDir))
	return p
}

// disown says whose a project is, and how a person lets it be entered.
func (p *Place) disown(err error) {
	p.foreign = err
	message := err.Error()
	if foreign := (*owner.Error)(nil); errors.As(err, &foreign) {
		message += ". If you trust it, run: " + foreign.Hint()
	}
	p.cannot("owner", "foreign_owner", message)
}

// read reads a project's configuration from source, which stands in for live.
func read(source, live string, withGates bool) (*keeper.Project, error) {
	cfg, err := config.LoadProject(source, live)
	if err != nil {
		return nil, err
	}
	project := &keeper.Project{Config: cfg}
	if withGates {
		project.Gates, err = config.LoadGates(source, live, cfg)
	}
	return project, err
}

// hold keeps an agent from stopping over an approval that cannot be read: damage frees no
// open failure. It says nothing about the work, so it does not count as a retry.
func (p *Place) hold(stateDir string) {
	state, err := ledger.Open(stateDir, p.Root).Read()
	if err == nil && !state.Damaged && len(state.Open) == 0 {
		return
	}
	what := p.Verdicts[len(p.Verdicts)-1].Message
	p.Held = &keeper.Verdict{
		Keeper: "trust", Outcome: keeper.Failed, Status: "damaged_approval", Uncounted: true, Summary: what,
		Reason: keeper.Words("gates were failing here, and they cannot run again because the approved files cannot be read: %s. Ask a person to approve (`stopgate trust`).", what),
	}
}

// holdForeign keeps an agent from stopping that was refused in a project before this became another user's: a
// change of owner closes nothing.
func (p *Place) holdForeign(session *footprint.Session) {
	if p.foreign == nil || session == nil {
		return
	}
	tree := session.Trees[paths.Canonical(p.Root)]
	if !tree.Red {
		return
	}

	what := p.foreign.Error()
	verdict := keeper.Verdict{
		Keeper: "owner", Outcome: keeper.Failed, Status: "foreign_owner", Uncounted: true, Summary: what,
		Reason: keeper.Words("gates failed here in this session, and they cannot run again: %s. Restore its previous owner, or ask a person to decide.", what),
	}
	if tree.Observed {
		p.Verdicts = append(p.Verdicts, verdict.Observed())
		return
	}
	p.Held = &verdict
}

// trusted compares the project with what was approved; false when nothing may
// run.
func (p *Place) trusted(store trust.Store, live string) (trust.Standing, bool) {
	standing, err := store.Standing(p.Root)
	switch {
	case err != nil:
		p.cannot("trust", "damaged_approval", err.Error())
		return standing, false
	case standing.State == trust.Untrusted:
		p.distrust(live)
		return standing, false
	}
	return standing, true
}

// edited tells that the project is not as approved.
func (p *Place) edited(standing trust.Standing, absent bool) {
	if standing.State != trust.Edited {
		return
	}
	what := fmt.Sprintf("%s differs from what was approved (%s)", filepath.Join(p.Root, paths.GauntletDir), trust.Summary(standing.Changed))
	help := "To approve it as it is now: stopgate trust"
	switch {
	case absent:
		what, help = paths.ProjectConfig(p.Root)+" "+trust.NotInBranch, "To get it here: "+trust.GetHere
	case standing.Gone:
		help = "To restore it: stopgate trust --restore"
	}
	p.Verdicts = append(p.Verdicts, keeper.Verdict{
		Keeper: "trust", Outcome: keeper.Passed, Status: "edited", Message: what + "; the approved files run instead. " + help,
	})
}

// starts are the directories from which the project is looked for. The
// payload's follows the agent's cd; leaving the project must not leave its
// gates, so the directory where Claude Code was started comes next.
func (s *Service) starts(payload hook.Payload) []string {
	starts := []string{payload.Common().CWD, s.getenv("CLAUDE_PROJECT_DIR")}
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	return starts
}

// distrust tells what an unapproved project would run and deny. One that would do
// neither is not worth a word.
func (p *Place) distrust(dir string) {
	if what, help := Unapproved(dir); what != "" {
		p.cannot("trust", "untrusted", what+". "+strings.ToUpper(help[:1])+help[1:])
	}
}

// FixAndApprove is what helps where a configuration could not be approved as it is.
const FixAndApprove = "fix it (stopgate validate), then approve it (stopgate trust)"

// Unapproved says of a .gauntlet that was never approved what it would do or what is wrong with
// it, and what a person does about it. Both are empty where it would do nothing.
func Unapproved(dir string) (what, help string) {
	never := dir + " was never approved, so nothing in it runs"
	project, err := read(dir, dir, true)
	if err != nil {
		return never + ", and it is not valid: " + firstLine(err), FixAndApprove
	}
	if would := wouldDo(project); would != "" {
		return never + ": " + would, "read it, then approve it with: stopgate trust"
	}
	return "", ""
}

// wouldDo is what a project would run and deny if it were approved; empty where that is nothing.
func wouldDo(project *keeper.Project) string {
	var parts []string
	if commands := append(project.Config.Commands(), project.Gates.Commands()...); len(commands) > 0 {
		parts = append(parts, "it would run "+strings.Join(plain.Few(commands, 5), ", "))
	}
	if denials := project.Config.Denials(); len(denials) > 0 {
		parts = append(parts, "it would deny "+strings.Join(plain.Few(denials, 5), ", "))
	}
	return strings.Join(parts, "; ")
}

func offMessage(r Recess) string {
	text := "off in this project until " + r.Until.Local().Format(time.DateTime) + "; nothing is checked"
	if r.Why != "" {
		text += " (" + r.Why + ")"
	}
	return text
}

func firstLine(err error) string {
	line, rest, more := strings.Cut(err.Error(), "\n")
	if n := strings.Count(rest, "\n") + 1; more {
		line += fmt.Sprintf(" (and %d more)", n)
	}
	return line
}
