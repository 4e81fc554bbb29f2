package protect

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/claude"
	"github.com/stopgate/stopgate/internal/environ"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/keeper"
	"github.com/stopgate/stopgate/internal/plain"
)

// Name is the keeper's.
const Name = "protect"

// The statuses of a verdict on files that were touched.
const (
	Untouched = "untouched"
	Asks      = "asks"    // the stop is allowed, and a person was told
	Touched   = "touched" // the stop is blocked
	// NeedsPerson is what a stop is allowed as after it was blocked for the same content:
	// queue and pipeline do not go on.
	NeedsPerson = "needs_person"
	NoGit       = "no_git"
)

// Keeper sees to it that a person hears of protected files that an agent changed. It comes
// after the gates: an agent whose gates are red has more to change, and what a person is to
// look at should be what remains.
type Keeper struct {
	StateDir string
	Now      func() time.Time
	Log      func(format string, args ...any)
}

var _ keeper.Keeper = Keeper{}

// Name implements keeper.Keeper.
func (Keeper) Name() string { return Name }

// MaxBlocks implements keeper.Keeper. Each content is blocked once; this ends the loop of an
// agent that writes another one each time.
func (Keeper) MaxBlocks() int { return 5 }

// Applies implements keeper.Keeper.
func (Keeper) Applies(call *keeper.Call) bool {
	if call.Event() != hook.Stop || call.Payload.Common().AgentID != "" {
		return false
	}
	if active, _ := environ.Lookup(call.Env, claude.ActiveVariable); active != "" {
		return false
	}
	return slices.ContainsFunc(call.Trees, func(tree keeper.Tree) bool { return Protects(tree.Project) })
}

// Judge implements keeper.Keeper. The first tree that blocks answers.
func (k Keeper) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	var all []keeper.Verdict
	for i := range call.Trees {
		tree := &call.Trees[i]
		if !Protects(tree.Project) {
			continue
		}
		v := k.judge(ctx, call, tree)
		if i > 0 {
			v = elsewhere(v, tree.Project.Root)
		}
		if all = append(all, v); v.Blocks() {
			break
		}
	}
	v := keeper.Together(all)
	v.PerTree = true
	return v
}

// elsewhere tells the agent, too, which project a verdict is about.
func elsewhere(v keeper.Verdict, root string) keeper.Verdict {
	if v.Reason != "" {
		v.Reason = plain.Name(root) + ": " + v.Reason
	}
	return v.About(root)
}

// judge looks at one tree.
func (k Keeper) judge(ctx context.Context, call *keeper.Call, tree *keeper.Tree) keeper.Verdict {
	place := Place{
		Project: tree.Project, StateDir: k.StateDir, Environ: call.Env, Now: k.Now,
		Session: call.Origin, Prompted: call.Prompted, Log: k.Log,
		Since: tree.Since,
	}
	found, err := place.Look(ctx)
	before := place.memory()
	if err != nil {
		return k.cannot(place, before, err)
	}
	memory := before
	v := verdict(place.config().Blocks, found, &memory)
	if call.Global.Observes(tree.Project.Config) {
		return observed(v)
	}
	if reflect.DeepEqual(memory, before) {
		return v
	}
	if err := place.keep(memory); err != nil {
		k.logf("remember what was said of protected files: %v", err)
		if v.Blocks() { // what cannot be remembered would be blocked for ever
			v = needsPerson(found, true)
		}
	}
	return v
}

// cannot is the verdict where nothing can be compared. That there is no repository is said
// once in a session.
func (k Keeper) cannot(place Place, m memory, err error) keeper.Verdict {
	v := keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "error", Message: "protected files were not compared: " + err.Error()}
	if !errors.Is(err, ErrNoGit) {
		return v
	}
	v.Status, v.Summary = NoGit, v.Message
	if m.NoGit {
		v.Message = ""
	}
	if m.NoGit = true; v.Message != "" {
		if err := place.keep(m); err != nil {
			k.logf("%v", err)
		}
	}
	return v
}

func (k Keeper) logf(format string, args ...any) {
	if k.Log != nil {
		k.Log(format, args...)
	}
}

// verdict decides, and notes in the memory what was said.
func verdict(mayBlock bool, found []Touch, m *memory) keeper.Verdict {
	m.Open = found
	if len(found) == 0 {
		return keeper.Verdict{Status: Untouched}
	}
	if !mayBlock {
		isNew := news(m.Told, found)
		m.Told = remember(m.Told, found)
		return asks(found, isNew)
	}
	if news(m.Blocked, found) {
		m.Blocked = remember(m.Blocked, found)
		return blocks(found)
	}
	isNew := news(m.Told, found)
	m.Told = remember(m.Told, found)
	return needsPerson(found, isNew)
}

// asks allows a stop, tells the person, and leaves it to a pipeline to ask.
func asks(found []Touch, isNew bool) keeper.Verdict {
	v := keeper.Verdict{Outcome: keeper.Failed, Status: Asks, Summary: summary(found)}
	if isNew {
		v.Message = "protected files were touched:\n" + list(found) + "\nLook at them and approve them with: stopgate approve"
	} else {
		v.Message = plural(len(found), "protected file") + " not approved yet, see: stopgate approve --list"
	}
	return v
}

func blocks(found []Touch) keeper.Verdict {
	return keeper.Verdict{
		Outcome: keeper.Failed, Status: Touched, Summary: summary(found), NeedsPerson: true,
		Reason: "These files are protected in this project, and were touched in this session:\n" + list(found) +
			"\n\nRevert them, or ask a person to look at them with `stopgate approve`. Only a person can approve.",
	}
}

// needsPerson allows a stop that was blocked before.
func needsPerson(found []Touch, isNew bool) keeper.Verdict {
	v := asks(found, isNew)
	v.Status, v.Notify, v.NeedsPerson = NeedsPerson, isNew, true
	return v
}

// observed says what would have been.
func observed(v keeper.Verdict) keeper.Verdict {
	if v.Blocks() {
		v = v.Observed()
	} else if v.Outcome == keeper.Failed {
		v.Status = keeper.WouldBlock
	}
	v.NeedsPerson = false
	return v
}

// summary is a verdict for the journal, and for the person that a pipeline asks.
func summary(found []Touch) string {
	const files, notes = 5, 5
	var names, named []string
	for _, t := range found {
		names = append(names, t.String())
		named = append(named, t.Notes...)
	}
	text := fmt.Sprintf("%s touched and not approved: %s", plural(len(found), "protected file"), strings.Join(capped(names, files), ", "))
	if len(named) > 0 {
		text += "; " + strings.Join(capped(named, notes), ", ")
	}
	return text + " (see: stopgate approve --list)"
}
