package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/question"
)

func NewApprove() *cobra.Command {
	var list, yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "approve [PATH...]",
		Short: "Approve protected files that an agent changed",
		Long: `Show what agents changed in protected files (protect in .gauntlet/config.yml),
and approve it. The approval is for the content that is shown, or for the
deletion, in all worktrees of the repository; if the file changes again, it
needs approval again.

With paths, only those are approved; a folder means every file in it that is
waiting. A file that is not waiting is approved as it is now.

Exit code 0: approved, or nothing is waiting. 1: not approved. 3: could not
run.`,
		Example: `  stopgate approve --list          list what is waiting
  stopgate approve                 review and approve it
  stopgate approve api/v1_test.go  only this file`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && !list {
				return term.BadUsage(errors.New("--json needs --list"), "see: stopgate approve --help")
			}
			h, err := here.MustExist(here.FindHere())
			if err != nil {
				return err
			}
			a, err := findApproval(h, cmd, args)
			if err != nil {
				return err
			}
			if list {
				return a.list(asJSON)
			}
			return a.approve(yes)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "only list what is waiting for approval")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; for scripts (agents are refused)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --list: print JSON")
	return cmd
}

// approval is what a person is about to approve.
type approval struct {
	cmd   *cobra.Command
	here  *here.Place
	place protect.Place
	all   []protect.Waiting
}

// Waiting is what waits for a person here; the place is that of the project itself.
func Waiting(ctx context.Context, h *here.Place, project *keeper.Project) (protect.Place, []protect.Waiting) {
	place := protect.Place{Project: project, StateDir: h.StateDir, Environ: os.Environ(), Now: time.Now}
	locator := h.Locator()
	return place, place.Wait(ctx, func(root string) *keeper.Project { return locator.Locate(root, false).Project })
}

func findApproval(h *here.Place, cmd *cobra.Command, args []string) (*approval, error) {
	project, _, err := h.Gates()
	if err != nil {
		return nil, err
	}
	if !protect.Protects(project) {
		err := errors.New("this project protects no files")
		return nil, term.CannotRun(err, "list them under protect: in .gauntlet/config.yml, then run: stopgate trust")
	}
	a := &approval{cmd: cmd, here: h}
	a.place, a.all = Waiting(cmd.Context(), h, project)
	if len(args) == 0 {
		return a, nil
	}
	names := make([]string, len(args))
	for i, arg := range args {
		if names[i], err = within(h, arg); err != nil {
			return nil, err
		}
	}
	return a, a.only(names)
}

// within is a path as the project knows it.
func within(h *here.Place, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.Cwd, path)
	}
	rel, err := filepath.Rel(h.Root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", term.BadUsage(fmt.Errorf("%s is not in the project %s", term.Shown(path), term.Shown(h.Root)), "list what waits with: stopgate approve --list")
	}
	return filepath.ToSlash(rel), nil
}

// only keeps what is at or below the names. A name for which nothing waits is taken as it is.
func (a *approval) only(names []string) error {
	below := func(path, name string) bool { return name == "." || path == name || strings.HasPrefix(path, name+"/") }
	left := map[string]bool{}
	for _, name := range names {
		left[name] = true
	}

	for i := range a.all {
		w := &a.all[i]
		w.Touches = slices.DeleteFunc(w.Touches, func(t protect.Touch) bool {
			wanted := false
			for _, name := range names {
				if below(t.Path, name) {
					delete(left, name)
					wanted = true
				}
			}
			return !wanted
		})
	}

	a.all = slices.DeleteFunc(a.all, func(w protect.Waiting) bool { return len(w.Touches) == 0 })
	names = slices.DeleteFunc(names, func(name string) bool { return !left[name] })
	if len(names) == 0 {
		return nil
	}

	found, err := a.place.At(a.cmd.Context(), names)
	if err != nil {
		return err
	}
	a.all = append(a.all, protect.Waiting{Place: a.place, Touches: found})
	return nil
}

func (a *approval) count() (n int) {
	for _, w := range a.all {
		n += len(w.Touches)
	}
	return n
}

// WaitingView is a protected file that waits for approval.
type WaitingView struct {
	Root string `json:"root"`
	protect.Touch
}

func ViewWaiting(all []protect.Waiting) []WaitingView {
	views := []WaitingView{}
	for _, w := range all {
		for _, t := range w.Touches {
			views = append(views, WaitingView{w.Root(), t})
		}
	}
	return views
}

func (a *approval) list(asJSON bool) error {
	out := a.cmd.OutOrStdout()
	if asJSON {
		return term.PrintJSON(out, ViewWaiting(a.all))
	}
	if len(a.all) == 0 {
		fmt.Fprintln(out, "nothing is waiting for approval")
	}
	for _, w := range a.all {
		a.heading(w)
		for _, t := range w.Touches {
			printTouch(term.Prose(out), t)
		}
	}
	return nil
}

// heading names a worktree that is not this one.
func (a *approval) heading(w protect.Waiting) {
	if w.Root() != a.here.Root {
		fmt.Fprintf(a.cmd.OutOrStdout(), "in %s:\n", term.Shown(w.Root()))
	}
}

// printTouch shows a file and what was weakened in it.
func printTouch(out io.Writer, t protect.Touch) {
	fmt.Fprintln(out, t)
	for _, note := range t.Notes {
		fmt.Fprintf(out, "  %s\n", note)
	}
}

// approve shows what waits, and approves what was shown.
func (a *approval) approve(yes bool) error {
	if err := trust.RequirePerson("approve", yes); err != nil {
		return err
	}
	out := a.cmd.OutOrStdout()
	if len(a.all) == 0 {
		fmt.Fprintln(out, "nothing is waiting for approval")
		return nil
	}

	for _, w := range a.all {
		a.heading(w)
		for _, t := range w.Touches {
			printTouch(term.Prose(out), t)
			if err := showDiff(out, w, t); err != nil {
				return err
			}
		}
	}

	if !yes {
		ask := question.Asker{In: bufio.NewReader(a.cmd.InOrStdin()), Out: out}
		if ok, err := ask.Agreed("Approve "+plain.Count(a.count(), "file")+"?", "no"); err != nil || !ok { // no answer is no
			fmt.Fprintln(out, "nothing was approved")
			return term.ErrSilent
		}
	}

	for _, w := range a.all {
		if err := w.Place.Approve(a.cmd.Context(), w.Touches); err != nil {
			return term.WithCode(err, term.ExitCouldNotRun)
		}
	}
	fmt.Fprintf(out, "approved: %s\n", plain.Count(a.count(), "file"))
	return nil
}

// showDiff shows how a file changed, in a few lines. What is shown is what will be approved.
func showDiff(out io.Writer, w protect.Waiting, t protect.Touch) error {
	const lines = 60
	before, known := w.Before[t.Path]
	after, err := w.Place.Text(t)
	switch {
	case t.What == protect.Unreadable:
		return fmt.Errorf("%s cannot be read, so it cannot be approved", term.Shown(t.Path))
	case errors.Is(err, protect.ErrMoved):
		return term.WithCode(fmt.Errorf("%s: %w", term.Shown(t.Path), err), term.ExitCouldNotRun)
	case t.What == protect.Renamed || t.What == protect.Mode:
		return nil
	case !known || err != nil || strings.Contains(before, "\x00"):
		fmt.Fprintln(out, "      (not a text file: no diff)")
		return nil
	}
	for _, line := range protect.Diff(before, after, lines) {
		fmt.Fprintln(out, line)
	}
	return nil
}
