package daemon

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// childHappened is what a fact tells of the pipelines that a step runs.
func childHappened(after *engine.Owner, fact engine.Fact) string {
	if after.Group == nil {
		return ""
	}
	switch f := fact.(type) {
	case engine.ChildStarted:
		return fmt.Sprintf("%s started (pipeline %s)", after.Group.Children[f.Child].Name, f.ID)
	case engine.ChildPassedOver:
		return fmt.Sprintf("%s skipped%s", f.Child, because(f.Why))
	case engine.ChildReported:
		i := slices.IndexFunc(after.Group.Children, func(c engine.Child) bool { return c.ID == f.ID })
		if i >= 0 {
			return fmt.Sprintf("%s %s%s", after.Group.Children[i].Name, f.State, because(firstLine(f.Why)))
		}
	}
	return ""
}
