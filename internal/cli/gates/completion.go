package gates

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// gateNames are the gates of a kind for the shell to complete; none where no configuration is in
// force.
func gateNames(kind gauntlet.Kind) (names []string) {
	h, err := here.FindHere()
	if err != nil || !h.HasProject {
		return nil
	}
	place := h.Locator().Locate(h.Root, true)
	if place.Project == nil || place.Project.Gates == nil {
		return nil
	}
	for _, g := range gatesOf(place.Project.Gates, kind) {
		if !slices.Contains(names, g.Name) {
			names = append(names, g.Name)
		}
	}
	return names
}

// violationIDs are the open violations for the shell to complete, each with what it is about.
func violationIDs(context.Context) (ids []string) {
	h, err := here.FindHere()
	if err != nil || !h.HasProject {
		return nil
	}
	state, err := ledger.Open(h.StateDir, h.Root).Read()
	if err != nil {
		return nil
	}
	for _, v := range openViolations(state.Open) {
		ids = append(ids, cobra.CompletionWithDesc(v.ID, plain.Line(v.Location()+": "+v.Issue)))
	}
	return ids
}
