// Package deny is the keeper that denies tool calls by the rules under deny: in the project's
// configuration. Nothing is started for it, so it costs no more than the hook itself.
package deny

import (
	"context"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Keeper denies tool calls.
type Keeper struct{}

var _ keeper.Keeper = Keeper{}

// Name implements keeper.Keeper.
func (Keeper) Name() string { return "deny" }

// MaxBlocks implements keeper.Keeper. It has no effect: calls of tools are not counted.
func (Keeper) MaxBlocks() int { return 1 }

// Applies implements keeper.Keeper.
func (Keeper) Applies(call *keeper.Call) bool {
	return call.Event() == hook.PreToolUse && call.Project != nil && len(call.Project.Config.Deny) > 0
}

// Judge implements keeper.Keeper. The first rule that denies the call answers.
func (Keeper) Judge(_ context.Context, call *keeper.Call) keeper.Verdict {
	payload, ok := call.Payload.(*hook.PreToolUsePayload)
	if !ok {
		return keeper.Verdict{Outcome: keeper.Passed, Status: keeper.Passed.String()}
	}
	use := toolUse{ToolUse: payload.ToolUse, names: names(call.Project.Root, payload)}
	for _, rule := range call.Project.Config.Deny {
		what, denied := use.deniedBy(rule)
		if !denied {
			continue
		}
		return keeper.Verdict{Outcome: keeper.Failed, Status: "denied", Reason: reason(use.ToolName, what, rule.Message), Summary: "denied " + plain.Line(use.ToolName) + ": " + what}
	}
	return keeper.Verdict{Outcome: keeper.Passed, Status: keeper.Passed.String()}
}

// reason tells the agent what was denied by what, and then the project's own words.
func reason(tool, what, message string) string {
	const longest = 150
	var f keeper.Frame
	f.Say("stopgate: %s is denied in this project: %s", keeper.Shorten(plain.Line(tool), longest), keeper.Shorten(what, longest))
	if message != "" {
		f.Say("\n%s", plain.Clip(message, f.Room()-2))
	}
	return f.Text
}

// toolUse is a call, and the names that its files have in the project.
type toolUse struct {
	hook.ToolUse
	names []name
}

// deniedBy reports whether a rule denies the call, and what in the rule does.
func (u toolUse) deniedBy(rule config.Deny) (what string, denied bool) {
	if rule.Tools != "" && !u.isOneOf(rule) {
		return "", false
	}
	if len(rule.Paths) == 0 && len(rule.Commands) == 0 {
		return "tools: " + rule.Tools, true
	}
	if rule.Tools != "" || settings.Edits(u.ToolName) {
		if pattern, denied := u.deniedPath(rule); denied {
			return "paths: " + pattern, true
		}
	}
	if rule.Tools != "" || u.ToolName == "Bash" {
		if pattern, denied := deniedCommand(rule.Commands, u.CommandLine()); denied {
			return "commands: " + pattern, true
		}
	}
	return "", false
}

// isOneOf reports whether a rule is about the tool. A rule about new files is also about an edit that makes one.
func (u toolUse) isOneOf(rule config.Deny) bool {
	return doublestar.MatchUnvalidated(rule.Tools, u.ToolName) ||
		rule.New && doublestar.MatchUnvalidated(rule.Tools, "Write") && settings.Edits(u.ToolName) && u.Creates()
}

func (u toolUse) deniedPath(rule config.Deny) (pattern string, denied bool) {
	for _, n := range u.names {
		if rule.New && disk.Exists(n.path) {
			continue
		}
		if i := slices.IndexFunc(rule.Paths, func(pattern string) bool { return gauntlet.Covers(pattern, n.below) }); i >= 0 {
			return rule.Paths[i], true
		}
	}
	return "", false
}
