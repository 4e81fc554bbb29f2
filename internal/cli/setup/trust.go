package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/owner"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/question"
)

func NewTrust() *cobra.Command {
	var show, revoke, restore, yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Approve this project's .gauntlet/ as it is now",
		Long: `Approve every file under this project's .gauntlet/ as it is now. Where the
global config says "trust: enforce", only approved content runs: if an agent
edits it later, the approved files still run until you approve again.
Runbooks of oddjobs, in .oj/runbooks, are approved with it.

--show prints what would run and, after an approval, a diff of what changed
since. On a terminal it goes through $PAGER, or less.`,
		Example: `  stopgate trust --show     show what would run, and what changed
  stopgate trust            approve
  stopgate trust --restore  put the approved files back; agents may do this too
  stopgate trust --revoke   revoke the approval`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := term.AtMostOne(cmd, "show", "revoke", "restore"); err != nil {
				return err
			}
			h, err := here.MustExist(here.FindApprovable())
			if err != nil {
				return err
			}
			out := term.Prose(cmd.OutOrStdout())
			switch {
			case show:
				return showTrust(cmd.Context(), out, h, asJSON)
			case restore:
				return restoreApproved(out, h, asJSON)
			case revoke:
				if err := trust.RequirePerson("revoke an approval", yes); err != nil {
					return err
				}
				return revokeApproval(out, h)
			}
			ask := &question.Asker{In: bufio.NewReader(cmd.InOrStdin()), Out: out}
			if yes {
				ask = nil
			}
			return approveAsking(cmd.Context(), out, h, yes, ask)
		},
	}
	cmd.Flags().BoolVar(&show, "show", false, "show what would run and what changed; approve nothing")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "revoke the approval")
	cmd.Flags().BoolVar(&restore, "restore", false, "put the approved files back; edited files are moved aside")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask, and work without a terminal; for scripts (agents are refused)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with --show or --restore")
	return cmd
}

func revokeApproval(out io.Writer, h *here.Place) error {
	if !onlyOddjobs(h) {
		if err := h.Trust().Revoke(h.Root); err != nil {
			return err
		}
		fmt.Fprintf(out, "no longer approved: %s\n", h.ConfigDir())
	}
	if !hasOddjobs(h) {
		return nil
	}
	if err := h.Trust().Oddjobs().Revoke(h.Root); err != nil {
		return err
	}
	fmt.Fprintf(out, "no longer approved: %s\n", paths.OddjobsRunbooks(h.Root))
	return nil
}

// restoreApproved puts the approved files back. Only approved content results, so
// agents may do it too.
func restoreApproved(out io.Writer, h *here.Place, asJSON bool) error {
	var all trust.Restoration
	if !onlyOddjobs(h) {
		r, err := h.Trust().Restore(h.Root)
		if err != nil {
			return err
		}
		if all = r; !asJSON {
			printRestored(out, h.ConfigDir(), r)
		}
	}
	if store := h.Trust().Oddjobs(); store.Claims(h.Root) {
		r, err := store.Restore(h.Root)
		if err != nil {
			return err
		}
		if all = all.And(paths.OddjobsDir+"/"+paths.RunbooksDir, r); !asJSON {
			printRestored(out, paths.OddjobsRunbooks(h.Root), r)
		}
	}
	if asJSON {
		return term.PrintJSON(out, all)
	}
	return nil
}

func printRestored(out io.Writer, dir string, r trust.Restoration) {
	if len(r.Restored)+len(r.Moved) == 0 {
		fmt.Fprintf(out, "%s is as approved\n", dir)
		return
	}
	fmt.Fprintf(out, "restored: %s\n", dir)
	for _, path := range r.Restored {
		fmt.Fprintf(out, "  %s\n", plain.Line(path))
	}
	if len(r.Moved) > 0 {
		fmt.Fprintf(out, "the files that were there are now in %s\n", r.Aside)
	}
}

// notInBranch is the error of a project whose approved configuration the branch does not have.
func notInBranch(h *here.Place) error {
	return term.WithHint(errors.New(paths.ProjectConfig(h.Root)+" "+trust.NotInBranch), trust.GetHere)
}

// approve is for commands by which a person has just set the project up: what there is was meant.
func approve(ctx context.Context, out io.Writer, h *here.Place, yes bool) error {
	return approveAsking(ctx, out, h, yes, nil)
}

// approveAsking approves what there is. What was approved before and has changed is shown, and the person
// asked, unless it is a script that runs this.
func approveAsking(ctx context.Context, out io.Writer, h *here.Place, yes bool, ask *question.Asker) error {
	if err := trust.RequirePerson("approve", yes); err != nil {
		return err
	}
	if standing, _ := h.Trust().Standing(h.Root); standing.Absent(os.Environ()) {
		return notInBranch(h)
	}
	if foreign := (*owner.Error)(nil); errors.As(owner.Check(h.Root, os.Environ()), &foreign) {
		return term.WithHint(foreign, "if you trust it: "+foreign.Hint())
	}
	if !onlyOddjobs(h) {
		if err := approveOwn(ctx, out, h, ask); err != nil {
			return err
		}
	}
	if hasOddjobs(h) {
		if err := approveOddjobs(out, h, ask); err != nil {
			return err
		}
	}
	if h.GlobalErr == nil && h.Global.Exists && !h.Enforces() { // without the file, approving turns it on
		fmt.Fprintf(out, "note: %s does not say \"trust: enforce\", so any project's commands run, approved or not\n", h.GlobalPath)
	}
	return nil
}

// approveOwn approves the project's .gauntlet.
func approveOwn(ctx context.Context, out io.Writer, h *here.Place, ask *question.Asker) error {
	snapshot, err := h.Trust().Take(h.Root)
	if err != nil {
		return err
	}
	cfg, err := readSnapshot(h, snapshot)
	if err != nil {
		return term.WithCode(invalidToApprove(err), term.ExitUsage)
	}
	if err := agree(out, h, h.Trust(), snapshot, paths.GauntletDir, ask); err != nil {
		return err
	}
	if err := h.Trust().ApproveSnapshot(snapshot, time.Now()); err != nil {
		return err
	}
	fmt.Fprintf(out, "approved: %s\n", plain.Name(h.ConfigDir()))
	cfg.print(out, "it runs")
	printNotes(ctx, h, out, cfg)
	noteUncovered(h, out, cfg.Project)
	return nil
}

// agree shows how a snapshot differs from what was approved before, and asks. It is an error that the person
// does not agree.
func agree(out io.Writer, h *here.Place, store trust.Store, snapshot trust.Snapshot, folder string, ask *question.Asker) error {
	standing, err := store.Standing(h.Root)
	if ask == nil || err != nil || standing.State != trust.Edited {
		return nil // a damaged approval is replaced
	}
	changes := standing.ChangesTo(snapshot)
	if len(changes) == 0 {
		return nil
	}

	var text strings.Builder
	printChanges(&text, term.PaintFor(out), folder, changes)
	if err := term.Page(out, text.String()); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if ok, err := ask.Agreed("Approve "+plain.Count(len(changes), "changed file")+"?", "no"); err != nil || !ok { // no answer is no
		fmt.Fprintln(out, "nothing was approved")
		return term.ErrSilent
	}
	return nil
}

func invalidToApprove(err error) error {
	hint := ""
	if _, faulty := errors.AsType[*document.Faults](err); faulty {
		hint = stop.FixAndApprove
	}
	return term.WithHint(fmt.Errorf("not approved, because it is not valid:\n%w", err), hint)
}

// printNotes says what the configuration checks less than it seems to.
func printNotes(ctx context.Context, h *here.Place, out io.Writer, cfg contents) {
	const patience, most = 10 * time.Second, 10 // git may wait for ever; doctor has all of them
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var lines []string
	for _, note := range notesOn(ctx, h, cfg) {
		lines = append(lines, note.String())
	}
	for _, line := range plain.Few(lines, most) {
		fmt.Fprintf(out, "note: %s\n", line)
	}
}

// noteUncovered says which of the commands would never run, because Claude Code
// does not call us for their events.
func noteUncovered(h *here.Place, out io.Writer, cfg *config.Project) {
	files := settings.Inspect(h.Root)
	if missing := settings.Uncovered(settings.InForce(files), cfg); len(missing) > 0 {
		fmt.Fprintf(out, "note: Claude Code does not call stopgate for %s; run: %s\n", strings.Join(document.Strings(missing), ", "), plain.Line(settings.InstallCommand(files)))
	}
}

// contents are a project's configuration, its gates and its runbooks.
type contents struct {
	*config.Project
	gates    *config.Gates
	runbooks []string // slash-separated, below .gauntlet/
	ungated  bool     // there are runbooks alone, and no configuration
}

func ReadContents(dir, shown string) (c contents, err error) {
	if c.Project, err = config.LoadProject(dir, shown); err == nil {
		c.gates, err = config.LoadGates(dir, shown, c.Project)
	}
	return c, err
}

// readApprovable reads a project that may also have runbooks alone.
func readApprovable(dir, shown string) (c contents, err error) {
	runbooks, err := runbooksIn(dir, ".toml", ".hcl")
	if err != nil {
		return c, err
	}
	if _, err := os.Lstat(filepath.Join(dir, paths.ConfigFile)); errors.Is(err, fs.ErrNotExist) && len(runbooks) > 0 {
		return contents{Project: &config.Project{}, gates: &config.Gates{}, runbooks: runbooks, ungated: true}, nil
	}
	c, err = ReadContents(dir, shown)
	c.runbooks = runbooks
	return c, err
}

// runbooksIn lists the runbooks of a .gauntlet or a .oj, by how their names end.
func runbooksIn(dir string, endings ...string) (found []string, err error) {
	err = filepath.WalkDir(filepath.Join(dir, paths.RunbooksDir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if slices.Contains(endings, filepath.Ext(path)) {
			rel, err := filepath.Rel(dir, path)
			found = append(found, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

// commands lists what Claude Code's events make run.
func (c contents) commands() []string { return append(c.Commands(), c.gates.Commands()...) }

// readSnapshot reads the configuration that is to be approved, not what the disk
// has by now.
func readSnapshot(h *here.Place, snapshot trust.Snapshot) (contents, error) {
	shown := h.Short(h.ConfigDir())
	if !snapshot.Has(paths.ConfigFile) && h.Trust().Gated(h.Root) {
		return contents{}, fmt.Errorf("%s does not exist; to revoke the approval: stopgate trust --revoke", filepath.Join(shown, paths.ConfigFile))
	}
	dir, err := os.MkdirTemp("", "stopgate-trust-")
	if err != nil {
		return contents{}, err
	}
	defer os.RemoveAll(dir)
	if err := snapshot.Copy(dir); err != nil {
		return contents{}, err
	}
	return readApprovable(dir, shown)
}

type trustView struct {
	trust.Standing
	Enforced bool `json:"enforced"`
	// WhereEdited is what happens on this system where files differ from the approved ones.
	WhereEdited trust.Remedy `json:"where_edited"`
	Commands    []string     `json:"commands"`
	Deny        []string     `json:"deny"` // the rules by which tool calls are denied
	Runbooks    []string     `json:"runbooks"`
	Invalid     string       `json:"invalid,omitempty"`
	Oddjobs     *oddjobsView `json:"oddjobs,omitempty"` // the runbooks in .oj/runbooks
}

func showTrust(ctx context.Context, out io.Writer, h *here.Place, asJSON bool) error {
	standing, err := h.Trust().Standing(h.Root)
	if err != nil {
		return err
	}

	remedy, why := trust.RemedyHere()
	if standing.State == trust.Edited {
		remedy = standing.Content.Remedy()
	}

	view := trustView{Standing: standing, Enforced: h.Enforces(), WhereEdited: remedy, Commands: []string{}, Deny: []string{}, Runbooks: []string{}}
	var cfg contents
	if !onlyOddjobs(h) {
		cfg, err = readApprovable(h.ConfigDir(), h.Short(h.ConfigDir()))
		view.Runbooks = append(view.Runbooks, cfg.runbooks...)
		if err != nil {
			view.Invalid = err.Error()
		} else {
			view.Commands = append(view.Commands, cfg.commands()...)
			view.Deny = append(view.Deny, cfg.Denials()...)
		}
	}

	if hasOddjobs(h) {
		odd, err := viewOddjobs(h)
		if err != nil {
			return err
		}
		view.Oddjobs = &odd
	}

	if asJSON {
		return term.PrintJSON(out, view)
	}
	var text strings.Builder
	if !onlyOddjobs(h) {
		view.print(ctx, &text, term.PaintFor(out), term.WidthOf(out), h, cfg, why)
	}
	if view.Oddjobs != nil {
		view.Oddjobs.print(&text, term.PaintFor(out), term.WidthOf(out), h)
	}
	return term.Page(out, text.String())
}

// stateWord is a state in the words of stopgate status.
func stateWord(s trust.State) string {
	if s == trust.Untrusted {
		return "not approved"
	}
	return string(s)
}

// print shows the state, what runs, and last how the files changed.
func (v trustView) print(ctx context.Context, text io.Writer, p term.Paint, width int, h *here.Place, cfg contents, why error) {
	out := term.ProseIn(text, width)
	fmt.Fprintf(out, "%s: %s\n", plain.Name(h.ConfigDir()), stateWord(v.State))
	if v.Absent(os.Environ()) {
		fmt.Fprintf(out, "%s %s: %s\n", plain.Name(paths.ProjectConfig(h.Root)), trust.NotInBranch, trust.GetHere)
		return
	}
	printChanged(out, v.Standing)
	if v.Enforced && v.State == trust.Untrusted {
		fmt.Fprintln(out, "nothing in it runs before you approve it with: stopgate trust")
	} else if v.Enforced {
		fmt.Fprintf(out, "while .gauntlet differs from what was approved, %s\n", v.WhereEdited)
		if why != nil {
			fmt.Fprintf(out, "  (%v)\n", why)
		}
	}

	verb := runsOf(v.Standing, v.Enforced)
	if v.Invalid == "" {
		cfg.print(out, verb)
		printNotes(ctx, h, out, cfg)
	} else {
		fmt.Fprintf(out, "not valid: %s\n", term.Tame(v.Invalid))
	}

	printDiff(text, out, p, paths.GauntletDir, v.Standing)
}

// printChanged lists what differs from what was approved.
func printChanged(out io.Writer, s trust.Standing) {
	if len(s.Changed) > 0 {
		fmt.Fprintf(out, "changed since %s:\n", s.ApprovedAt.Local().Format(time.DateTime))
	}
	for _, path := range s.Changed {
		fmt.Fprintf(out, "  %s\n", plain.Line(path))
	}
}

// runsOf is how what there is runs, as the beginning of a sentence.
func runsOf(s trust.Standing, enforced bool) string {
	if enforced && s.State != trust.Approved {
		return "once approved, it runs"
	}
	return "it runs"
}

// printDiff shows how what is in a folder differs from what was approved.
func printDiff(text, out io.Writer, p term.Paint, folder string, s trust.Standing) {
	changes, err := s.Changes()
	if err != nil {
		fmt.Fprintf(out, "cannot show the changes: %s\n", plain.Line(err.Error()))
	}
	printChanges(text, p, folder, changes)
}

// print says what runs and what is enforced. What is in runbooks only stopgated can read.
func (c contents) print(out io.Writer, verb string) {
	for _, rule := range c.rules() {
		fmt.Fprintln(out, rule)
	}
	commands := c.commands()
	if len(commands)+len(c.runbooks) == 0 {
		if len(c.Deny) == 0 {
			fmt.Fprintln(out, verb+" nothing")
		}
		return
	}
	if len(commands) > 0 {
		fmt.Fprintln(out, verb+":")
	}
	for _, command := range commands {
		fmt.Fprintf(term.Verbatim(out), "  %s\n", command) // a second line of one would look like another
	}
	printRunbooks(out, verb, c.runbooks)
}

func printRunbooks(out io.Writer, verb string, runbooks []string) {
	if len(runbooks) > 0 {
		fmt.Fprintln(out, verb+" these runbooks when you start them (see: stopgate runbook show):")
	}
	for _, path := range runbooks {
		fmt.Fprintf(term.Verbatim(out), "  %s\n", plain.Name(path))
	}
}

// rules are the settings that change what is enforced.
func (c contents) rules() (lines []string) {
	if c.ungated {
		return nil
	}
	for _, exempt := range (&config.Global{}).Exemptions(c.Project, nil, "", "") {
		lines = append(lines, exempt.Setting+": "+exempt.Means)
	}
	if len(c.Protect.Patterns) > 0 {
		them := "them"
		if len(c.Protect.Patterns) == 1 && !strings.ContainsAny(c.Protect.Patterns[0], "*?[{") {
			them = "it"
		}
		then := "you are told when an agent changes " + them
		if c.Protect.Blocks {
			then = "changing " + them + " blocks the stop once"
		}
		lines = append(lines, "it protects "+plain.Line(strings.Join(c.Protect.Patterns, ", "))+": "+then)
	}
	for _, rule := range c.Denials() {
		lines = append(lines, "it denies "+rule)
	}
	return lines
}
