package daemon

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// childStarted is what a fact tells of the pipelines that the current step is to run.
func childStarted(after *engine.Owner, fact engine.Fact) string {
	switch f := fact.(type) {
	case engine.ChildStarted:
		return fmt.Sprintf("%s started (pipeline %s)", after.Offspring.Children[f.Child].Name, f.ID)
	case engine.ChildPassedOver:
		return fmt.Sprintf("%s skipped%s", f.Child, because(f.Why))
	}
	return ""
}

// childReported is what became of one of them.
func childReported(was *engine.Owner, f engine.ChildReported) string {
	name := f.ID
	if was.Offspring != nil {
		if i := slices.IndexFunc(was.Offspring.Children, func(c engine.Child) bool { return c.ID == f.ID }); i >= 0 {
			name = was.Offspring.Children[i].Name
		}
	}
	return fmt.Sprintf("%s %s%s", name, f.State, because(firstLine(f.Why)))
}
