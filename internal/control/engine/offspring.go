package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Offspring is what a step runs that runs more than one thing: the branches of a parallel step, one
// pipeline for each item, or another pipeline. Each is an owner of its own, a child of this one, so
// that an owner is never at two steps.
type Offspring struct {
	Step     string   `json:"step"`
	Children []Child  `json:"children,omitempty"`
	Open     bool     `json:"open,omitempty"`    // its step goes on
	Resumed  bool     `json:"resumed,omitempty"` // a person resumes its step: what is done stays done
	Leaving  *Leaving `json:"leaving,omitempty"` // its step is left as soon as no child runs
}

// Leaving is how a step is left when its children have ended.
type Leaving struct {
	Cancel bool   `json:"cancel,omitempty"` // because its owner is cancelled
	Why    string `json:"why,omitempty"`    // else why it fails
}

// Child is one of the pipelines that a step runs.
type Child struct {
	Name  string     `json:"name"`           // the branch's, or the step's with the number of the item
	Item  string     `json:"item,omitempty"` // what for_each runs it for
	ID    string     `json:"id,omitempty"`   // once it was started
	State ChildState `json:"state"`
	Why   string     `json:"why,omitempty"` // it waits, failed, or was skipped
	USD   float64    `json:"usd,omitempty"` // its share of the budget

	Values map[string]string `json:"values,omitempty"` // what it left behind
}

// ChildState is how far a child is.
type ChildState string

// The states of children.
const (
	ChildPending   ChildState = "pending"
	ChildRunning   ChildState = "running"
	ChildQueued    ChildState = "queued"  // for room in its group
	ChildWaiting   ChildState = "waiting" // for a person
	ChildDone      ChildState = runbook.EndDone
	ChildFailed    ChildState = runbook.EndFailed
	ChildCancelled ChildState = runbook.EndCancelled
	ChildSkipped   ChildState = "skipped" // what it needs has failed
)

// Runs reports whether the child was started, and has not ended.
func (c Child) Runs() bool {
	return c.State == ChildRunning || c.State == ChildQueued || c.State == ChildWaiting
}

// failed reports whether the child makes its step a failure.
func (c Child) failed() bool { return c.State == ChildFailed || c.State == ChildCancelled }

// What a step may run, and what of it is kept.
const (
	maxItems  = 500
	maxFamily = 10_000    // children and theirs, of the steps that run at once
	maxValues = 128 << 10 // of what all children left behind
)

// hasChildren reports whether the current step has children.
func (o *Owner) hasChildren() bool { return o.Offspring != nil && o.Offspring.Open }

func (g *Offspring) has(is func(Child) bool) bool { return slices.ContainsFunc(g.Children, is) }

func (g *Offspring) child(id string) int {
	return slices.IndexFunc(g.Children, func(c Child) bool { return c.ID == id && id != "" })
}

// enterChildren begins a step that runs pipelines.
func (d *draft) enterChildren(step runbook.Step, attempt int) {
	started := StepStarted{Step: step.Name, Attempt: attempt}
	if !eachTimed(step) {
		started.Timeout = step.Timeout
	}
	d.fact(started)
	children, why := d.planChildren(step)
	if n := len(children); why == "" && n > d.room() {
		why = fmt.Sprintf("%d at once; at most %d here, because the pipeline that this one belongs to may have %d in all", n, d.room(), maxFamily)
	}
	if why != "" {
		d.fail(why)
		return
	}
	d.needWorkspace()
	d.fact(GroupPlanned{step.Name, d.keptChildren(step, children)})
	d.moveChildren()
}

// eachTimed reports whether the step's time is that of each item.
func eachTimed(step runbook.Step) bool { return !step.Parallel && step.Run.Pipeline == "" }

// planChildren are the children of a step, or why there are none.
func (d *draft) planChildren(step runbook.Step) (children []Child, why string) {
	switch {
	case step.Parallel:
		for _, s := range d.Plan.Pipeline.Steps {
			if s.Of == step.Name {
				children = append(children, Child{Name: s.Name, State: ChildPending})
			}
		}
	case !step.ForEach.IsZero():
		items, why := d.items(step.ForEach)
		if why != "" {
			return nil, "for_each: " + why
		}
		for i, item := range items {
			children = append(children, Child{Name: fmt.Sprintf("%s-%d", step.Name, i+1), Item: item, State: ChildPending})
		}
	default:
		children = []Child{{Name: step.Name, State: ChildPending}}
	}
	return children, ""
}

// items are what a step runs for: a list, the elements of a JSON array, or the lines of a text.
func (d *draft) items(each runbook.ForEach) (items []string, why string) {
	if why := d.absent(append([]string{each.Text}, each.List...)...); why != "" {
		return nil, why
	}
	values, size := d.values(), 0
	for _, text := range each.List {
		items = append(items, sound(runbook.Expand(text, values)))
	}
	if each.List == nil {
		var err error
		if items, err = splitItems(sound(runbook.Expand(each.Text, values))); err != nil {
			return nil, err.Error()
		}
	}
	for _, item := range items {
		size += sizeOf(item)
	}
	switch {
	case len(items) > maxItems:
		return nil, fmt.Sprintf("%d items; at most %d", len(items), maxItems)
	case size > maxAsked:
		return nil, fmt.Sprintf("the items have %d bytes; at most %d", size, maxAsked)
	}
	return items, ""
}

func splitItems(text string) (items []string, err error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				items = append(items, line)
			}
		}
		return items, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("not a JSON array: %w", err)
	}
	for _, raw := range list {
		items = append(items, plainJSON(raw))
	}
	return items, nil
}

// plainJSON is a string's text, and everything else as it is.
func plainJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// keptChildren replaces planned children by those that were done when the step failed.
func (d *draft) keptChildren(step runbook.Step, planned []Child) []Child {
	if d.Offspring == nil || d.Offspring.Step != step.Name || !d.Offspring.Resumed {
		return planned
	}
	for i, c := range planned {
		same := func(old Child) bool { return old.Name == c.Name && old.Item == c.Item && old.State == ChildDone }
		if at := slices.IndexFunc(d.Offspring.Children, same); at >= 0 {
			planned[i] = d.Offspring.Children[at]
		}
	}
	return planned
}

// moveChildren starts what can be started, and leaves the step when all have ended.
func (d *draft) moveChildren() {
	step := d.current()
	if failure := d.childFailure(); failure != "" && step.FailFast && d.Offspring.Leaving == nil {
		d.fail(failure) // when the others have ended
		return
	}
	if d.Offspring.Leaving == nil {
		d.skipChildren()
		d.startChildren(step)
	}
	if d.Offspring.has(func(c Child) bool { return c.Runs() || c.State == ChildPending && d.Offspring.Leaving == nil }) {
		return
	}
	switch leaving := d.Offspring.Leaving; {
	case leaving != nil && leaving.Cancel:
		d.abandon(false)
	case leaving != nil:
		d.fail(leaving.Why)
	case d.childFailure() != "":
		d.fail(d.childFailure())
	default:
		d.complete()
	}
}

// childFailure says what failed, or "".
func (d *draft) childFailure() string {
	var failed []string
	for _, c := range d.Offspring.Children {
		if c.failed() {
			failed = append(failed, colon(c.Name, plain.FirstLine(c.Why)))
		}
	}
	switch {
	case len(failed) == 0:
		return ""
	case len(d.Offspring.Children) == 1 && !d.current().Parallel && d.current().ForEach.IsZero():
		return d.Offspring.Children[0].Why
	}
	const shown = 5
	words := strings.Join(failed[:min(len(failed), shown)], "; ")
	if more := len(failed) - shown; more > 0 {
		words += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("%d of %d failed: %s", len(failed), len(d.Offspring.Children), words)
}

// skipChildren skips the branches that need one which did not succeed.
func (d *draft) skipChildren() {
	for again := true; again; {
		again = false
		for _, c := range slices.Clone(d.Offspring.Children) {
			if blocker := d.blocker(c); c.State == ChildPending && blocker != "" {
				d.fact(ChildPassedOver{c.Name, blocker})
				again = true
			}
		}
	}
}

// blocker says which need of a branch cannot be met any more.
func (d *draft) blocker(c Child) string {
	for _, need := range d.needs(c) {
		if need.failed() || need.State == ChildSkipped {
			return fmt.Sprintf("it needs %s, which %s", need.Name, map[ChildState]string{
				ChildFailed: "failed", ChildCancelled: "was cancelled", ChildSkipped: "was skipped",
			}[need.State])
		}
	}
	return ""
}

// needs are the branches that a branch comes after.
func (d *draft) needs(c Child) (needs []Child) {
	step, _ := d.plannedStep(c.Name)
	if !d.current().Parallel {
		return nil
	}
	for _, other := range d.Offspring.Children {
		if slices.Contains(step.Needs, other.Name) {
			needs = append(needs, other)
		}
	}
	return needs
}

// startChildren starts the children for which there is room, and nothing is missing.
func (d *draft) startChildren(step runbook.Step) {
	running := 0
	for _, c := range d.Offspring.Children {
		if c.Runs() {
			running++
		}
	}
	for i, c := range d.Offspring.Children {
		ready := !slices.ContainsFunc(d.needs(c), func(need Child) bool { return need.State != ChildDone })
		if c.State != ChildPending || !ready || step.Limit > 0 && running >= step.Limit {
			continue
		}
		d.fact(ChildStarted{Child: i, ID: childID(d.ID, d.Serial+1), USD: d.share()})
		d.effect(Effect{Kind: StartChild, Target: d.Offspring.Children[i].ID})
		running++
	}
}

// share is what the next child may cost: an equal part of what is left. What a child does not need
// is there for those that start later.
func (d *draft) share() float64 {
	limit := d.Budget().USD
	if limit == 0 || d.cleansUp() {
		return 0
	}
	left, waiting := limit-d.Cost().USD, 0
	for _, c := range d.Offspring.Children {
		switch {
		case c.State == ChildPending:
			waiting++
		case c.Runs():
			left -= c.USD
		}
	}
	const least = 0.01 // 0 would be no limit
	return max(left/float64(waiting), least)
}

// childReported is what became of a child.
func (d *draft) childReported(r ChildReported) {
	if !d.hasChildren() {
		return
	}
	i := d.Offspring.child(r.ID)
	if i < 0 || !d.Offspring.Children[i].Runs() || d.Offspring.Children[i].State == r.State && d.Offspring.Children[i].Why == r.Why {
		return
	}
	r.Why, r.Output = clip(r.Why, maxWords), r.Output.sound()
	if size := sizeOf(r.Output.Values); r.State == ChildDone && size+d.Offspring.size() > maxValues {
		r.State, r.Why = ChildFailed, fmt.Sprintf("its outputs and those of the others have more than %d bytes", maxValues)
		r.Output.Values = nil
	}
	d.fact(r)
	if !d.Offspring.Children[i].Runs() {
		d.moveChildren()
	}
}

func (g *Offspring) size() (size int) {
	for _, c := range g.Children {
		if c.Values != nil {
			size += sizeOf(c.Values)
		}
	}
	return size
}

// awaitChildren cancels what runs for the current step, which is to be left as it says. It reports
// whether that takes a while: then the step is left when the last child has ended.
func (d *draft) awaitChildren(how Leaving) bool {
	if !d.hasChildren() || !d.Offspring.has(Child.Runs) {
		return false
	}
	switch old := d.Offspring.Leaving; {
	case old == nil:
		d.fact(GroupLeaving(how))
		d.cancelChildren()
	case how.Cancel && !old.Cancel:
		d.fact(GroupLeaving(how))
	}
	return d.Offspring.has(Child.Runs)
}

// cancelChildren cancels all that run. One that was not started is not.
func (d *draft) cancelChildren() {
	for _, c := range slices.Clone(d.Offspring.Children) {
		if !c.Runs() {
			continue
		}
		if d.dropped(c.ID) {
			d.fact(ChildReported{ID: c.ID, State: ChildCancelled})
			continue
		}
		d.effect(Effect{Kind: CancelChild, Target: c.ID, Text: fmt.Sprintf("step %q of %s was left", d.Step, d.Name)})
	}
}

// dropped takes back the start of a child, and reports whether that was possible.
func (d *draft) dropped(child string) bool {
	open := func(e OpenEffect) bool { return e.Kind == StartChild && e.Target == child && !e.Started }
	i := slices.IndexFunc(d.Effects, open)
	if i < 0 {
		return false
	}
	d.drop(d.Effects[i].Key)
	return !slices.ContainsFunc(d.Effects, open) // one of this very step stays
}
