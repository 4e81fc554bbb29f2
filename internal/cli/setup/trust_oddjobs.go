package setup

import (
	"fmt"
	"io"
	"time"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/question"
)

// oddjobsView is how the runbooks in .oj/runbooks stand to what was approved of them.
type oddjobsView struct {
	trust.Standing
	Runbooks []string `json:"runbooks"`
}

// hasOddjobs reports whether the project has runbooks of oddjobs, or an approval of them.
func hasOddjobs(h *here.Place) bool {
	return paths.HasOddjobs(h.Root) || h.Trust().Oddjobs().Claims(h.Root)
}

// onlyOddjobs reports whether runbooks of oddjobs are all that can be approved.
func onlyOddjobs(h *here.Place) bool {
	return hasOddjobs(h) && !disk.Exists(h.ConfigDir()) && !h.Trust().Claims(h.Root)
}

func viewOddjobs(h *here.Place) (v oddjobsView, err error) {
	if v.Standing, err = h.Trust().Oddjobs().Standing(h.Root); err != nil {
		return v, err
	}
	v.Runbooks, err = oddjobsIn(h)
	return v, err
}

// oddjobsIn lists the runbooks of oddjobs, slash-separated, below .oj/.
func oddjobsIn(h *here.Place) ([]string, error) {
	found, err := runbooksIn(h.OddjobsDir(), ".toml", ".hcl", ".json")
	return append([]string{}, found...), err
}

func (v oddjobsView) print(text io.Writer, p term.Paint, width int, h *here.Place) {
	out := term.ProseIn(text, width)
	fmt.Fprintf(out, "%s: %s\n", plain.Name(paths.OddjobsRunbooks(h.Root)), stateWord(v.State))
	printChanged(out, v.Standing)
	printRunbooks(out, runsOf(v.Standing, h.Enforces()), v.Runbooks)
	printDiff(text, out, p, paths.OddjobsDir+"/"+paths.RunbooksDir, v.Standing)
}

// approveOddjobs approves the runbooks of oddjobs as they are now.
func approveOddjobs(out io.Writer, h *here.Place, ask *question.Asker) error {
	store := h.Trust().Oddjobs()
	snapshot, err := store.Take(h.Root)
	if err != nil {
		return err
	}
	if err := agree(out, h, store, snapshot, paths.OddjobsDir+"/"+paths.RunbooksDir, ask); err != nil {
		return err
	}
	if err := store.ApproveSnapshot(snapshot, time.Now()); err != nil {
		return err
	}
	runbooks, err := oddjobsIn(h)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "approved: %s\n", plain.Name(paths.OddjobsRunbooks(h.Root)))
	printRunbooks(out, "it runs", runbooks)
	return nil
}
