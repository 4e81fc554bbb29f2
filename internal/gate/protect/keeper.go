package protect

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/sys/plain"
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
	return call.IsMainStop() && slices.ContainsFunc(call.Trees, func(tree keeper.Tree) bool { return Protects(tree.Project) })
}

// Judge implements keeper.Keeper. The first tree that blocks answers.
func (k Keeper) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	var all []keeper.Verdict
	for i := range call.Trees {
		tree := &call.Trees[i]
		if !Protects(tree.Project) {
			continue
		}
		v := k.judge(ctx, call, tree, i > 0)
		if i > 0 {
			v = v.About(tree.Project.Root)
		}
		if all = append(all, v); v.Blocks() {
			break
		}
	}
	v := keeper.Together(all)
	v.PerTree = true
	return v
}

// judge looks at one tree. The agent is told which, if it is elsewhere.
func (k Keeper) judge(ctx context.Context, call *keeper.Call, tree *keeper.Tree, elsewhere bool) keeper.Verdict {
	place := Place{
		Project: tree.Project, StateDir: k.StateDir, Environ: call.Env, Now: k.Now,
		Session: call.Origin, Prompted: call.Prompted, Log: k.Log,
		Since: tree.Since,
	}

	found, err := place.Look(ctx)
	before := place.memory()
	switch {
	case errors.Is(err, errNoGit):
		return k.noGit(place, before, err)
	case err != nil && ctx.Err() != nil: // the hook is over, which says nothing about the files
		return keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "error", Message: "protected files were not compared: " + err.Error()}
	}

	if len(found) > 0 && len(before.Open) == 0 && call.OnlyReads != nil && call.OnlyReads() {
		found = nil // a person's, or another session's
	}
	seen := sight{touches: found}
	if err != nil {
		seen.fault = plain.Line(err.Error())
	}
	if elsewhere {
		seen.elsewhere = tree.Project.Root
	}

	memory := before
	v := verdict(place.config().Blocks, seen, &memory)
	if call.Global.Observes(tree.Project.Config) {
		return observed(v)
	}

	if reflect.DeepEqual(memory, before) {
		return v
	}
	if err := place.keep(memory); err != nil {
		k.logf("record what was reported about protected files: %v", err)
		if v.Blocks() { // what cannot be remembered would be blocked for ever
			v = needsPerson(seen, true)
		}
	}
	return v
}

// noGit is the verdict where there is no repository, which is said once in a session.
func (k Keeper) noGit(place Place, m memory, err error) keeper.Verdict {
	message := "protected files were not compared: " + err.Error()
	v := keeper.Verdict{Outcome: keeper.CouldNotRun, Status: NoGit, Summary: message}
	if m.NoGit {
		return v
	}
	v.Message, m.NoGit = message, true
	if err := place.keep(m); err != nil {
		k.logf("%v", err)
	}
	return v
}

func (k Keeper) logf(format string, args ...any) {
	if k.Log != nil {
		k.Log(format, args...)
	}
}

// sight is what a look at the protected files came to.
type sight struct {
	touches []Touch
	fault   string // why there may be more; empty where all were compared
	// elsewhere is the project, if it is not the one that the agent stops in.
	elsewhere string
}

func (s sight) clear() bool { return len(s.touches) == 0 && s.fault == "" }

// verdict decides, and notes in the memory what was said.
func verdict(mayBlock bool, s sight, m *memory) keeper.Verdict {
	m.Open = s.touches
	switch {
	case s.clear():
		return keeper.Verdict{Status: Untouched}
	case !mayBlock:
		return asks(s, m.tells(s))
	case m.blocks(s):
		return blocks(s)
	}
	return needsPerson(s, m.tells(s))
}

// asks allows a stop, tells the person, and leaves it to a pipeline to ask.
func asks(s sight, isNew bool) keeper.Verdict {
	var texts []string
	switch {
	case len(s.touches) == 0:
	case isNew:
		texts = append(texts, "protected files were changed:\n"+list(s.touches)+"\nReview and approve them with: stopgate approve")
	default:
		texts = append(texts, plain.Count(len(s.touches), "protected file")+" not approved yet, see: stopgate approve --list")
	}
	if s.fault != "" {
		texts = append(texts, incomparable+s.fault+"; repair the repository")
	}
	return keeper.Verdict{Outcome: keeper.Failed, Status: Asks, Message: strings.Join(texts, "\n"), Summary: s.summary()}
}

const incomparable = "protected files cannot be compared: "

func blocks(s sight) keeper.Verdict {
	return keeper.Verdict{Outcome: keeper.Failed, Status: Touched, Summary: s.summary(), NeedsPerson: true, Reason: s.reason()}
}

// reason tells the agent what it changed and what to do. It begins with what is wrong, and of many
// files it names the first.
func (s sight) reason() string {
	var f keeper.Frame
	longest := 200
	if len(s.touches) > 0 {
		f.Say("stopgate: %s changed in this session, so you cannot stop yet. ", plain.Count(len(s.touches), "protected file"))
		f.Say("Revert them, or ask a person to review them with `stopgate approve`. Only a person can approve.\n")
	}
	if s.fault != "" {
		longest = 80 // else there is no room for a file
		f.Say("stopgate: %s%s; repair the repository, or ask a person\n", incomparable, keeper.Shorten(s.fault, longest))
	}
	if s.elsewhere != "" {
		f.Say("This is about `%s`, where you worked in this session.\n", keeper.Shorten(plain.Name(s.elsewhere), longest))
	}
	files, notes := lines(s.touches)
	f.List(files)
	f.List(notes)
	return f.Text
}

// needsPerson allows a stop that was blocked before.
func needsPerson(s sight, isNew bool) keeper.Verdict {
	v := asks(s, isNew)
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
func (s sight) summary() string {
	var parts []string
	if len(s.touches) > 0 {
		parts = append(parts, summary(s.touches))
	}
	if s.fault != "" {
		parts = append(parts, incomparable+s.fault)
	}
	return strings.Join(parts, "; ")
}

// summary is touched files on one line.
func summary(found []Touch) string {
	const files, notes = 5, 5
	var names, named []string
	for _, t := range found {
		names = append(names, t.String())
		named = append(named, t.Notes...)
	}
	text := fmt.Sprintf("%s changed and not approved: %s", plain.Count(len(found), "protected file"), strings.Join(plain.Few(names, files), ", "))
	if len(named) > 0 {
		text += "; " + strings.Join(plain.Few(named, notes), ", ")
	}
	return text + " (see: stopgate approve --list)"
}
