package engine

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Parent is where a child comes from.
type Parent struct {
	ID   string  `json:"id"`
	Name string  `json:"name"`           // of the child, among its siblings
	Step string  `json:"step"`           // of the parent that runs it
	Part bool    `json:"part,omitempty"` // it is one step of the parent's pipeline, not a pipeline of its own
	Item *string `json:"item,omitempty"` // what for_each runs it for

	Room      int        `json:"room,omitempty"`      // how many children each of its steps may have
	Groups    []string   `json:"groups,omitempty"`    // those with a limit that the parent has room in
	Workspace *Workspace `json:"workspace,omitempty"` // the parent's, in which the child works where it has none of its own
}

// Child is what starts a child of the owner, and whether there is such a child.
func (o *Owner) Child(id string) (Create, bool) {
	if o.Offspring == nil || o.Offspring.child(id) < 0 {
		return Create{}, false
	}
	d, child := &draft{Owner: o}, o.Offspring.Children[o.Offspring.child(id)]
	whole, part := d.partOf(child)
	c := Create{
		Owner: id, Kind: Pipeline, Name: o.Name + "/" + child.Name, Command: o.Command, Project: o.Project, Cwd: o.Cwd,
		Vars: maps.Clone(o.Vars), Passed: maps.Clone(o.Passed), Site: o.Site,
		Parent: &Parent{ID: o.ID, Name: child.Name, Step: whole.Name, Part: !part.Runs(), Item: o.item(), Room: o.room() / len(o.Offspring.Children), Groups: o.groups(), Workspace: d.lends()},
	}
	if !whole.ForEach.IsZero() {
		c.Parent.Item = &child.Item
	}
	if c.Parent.Part {
		c.Plan = o.Plan.Part(part)
		c.Outputs = o.outputsFor(c.Plan)
	} else {
		c.Plan = o.Plan.Used(part.Run.Pipeline)
		c.Vars = d.given(part, c)
	}
	d.limit(&c.Plan.Pipeline, child)
	return c, true
}

// partOf is the step that a child belongs to, and what the child runs of it.
func (d *draft) partOf(c Child) (whole, part runbook.Step) {
	whole, _ = d.plannedStep(d.Offspring.Step)
	if whole.Parallel {
		part, _ = d.plannedStep(c.Name)
		return whole, part
	}
	part = whole
	part.ForEach, part.If, part.Limit, part.FailFast = runbook.ForEach{}, "", 0, false
	return whole, part
}

// room is how many children each step of the owner may have. Siblings share that of their parent, so
// that lists within lists stay within one bound.
func (o *Owner) room() int {
	if o.Parent == nil {
		return maxFamily
	}
	return cmp.Or(o.Parent.Room, maxFamily) // one of an older version has none
}

// groups are those with a limit that the owner has room in, or its parent.
func (o *Owner) groups() (all []string) {
	if o.Parent != nil {
		all = slices.Clone(o.Parent.Groups)
	}
	if o.Turn != nil {
		all = append(all, o.Turn.Group)
	}
	return all
}

// item is what the steps of the owner run for, or nil. A pipeline that is run for an item has variables.
func (o *Owner) item() *string {
	if o.Parent == nil || !o.Parent.Part {
		return nil
	}
	return o.Parent.Item
}

// given are the variables of a pipeline that is run as a step.
func (d *draft) given(part runbook.Step, c Create) map[string]string {
	values := d.values()
	itemValues(values, c.Parent.Item)
	vars := maps.Clone(c.Plan.Pipeline.Defaults)
	for name, text := range part.Vars {
		vars = with(vars, name, runbook.Expand(text, values))
	}
	return vars
}

// lends is the workspace that the current step works in, or nil.
func (d *draft) lends() *Workspace {
	if w, has := d.Workspaces[""]; has {
		return &w
	}
	return d.lent()
}

// lent is the workspace of the parent, where the owner has none of its own.
func (o *Owner) lent() *Workspace {
	if o.Parent == nil || o.Plan.Pipeline.Workspace.Kind != "" {
		return nil
	}
	return o.Parent.Workspace
}

// outputsFor are the outputs that the texts of a plan name.
func (o *Owner) outputsFor(plan runbook.Plan) (outputs map[string]Output) {
	text, err := json.Marshal(plan)
	if err != nil {
		return maps.Clone(o.Outputs)
	}
	for step, output := range o.Outputs {
		if strings.Contains(string(text), "${steps."+step+".") {
			outputs = with(outputs, step, output)
		}
	}
	return outputs
}

// limit gives a child what is left of the owner's time, and its share of the money.
func (d *draft) limit(p *runbook.Pipeline, child Child) {
	if child.USD > 0 && (p.Budget.USD == 0 || p.Budget.USD > child.USD) {
		p.Budget.USD = child.USD
	}
	limit := d.Budget().Time
	if limit == 0 || d.cleansUp() {
		return
	}
	if left := max(limit-d.Ran, 1); p.Budget.Time == 0 || p.Budget.Time > left {
		p.Budget.Time = left
	}
}

// itemValues are what templates can name of an item: all of it, and where it is a JSON object its
// fields.
func itemValues(values map[string]string, item *string) {
	if item == nil {
		return
	}
	values["item"] = *item
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(*item), &fields) != nil {
		return
	}
	for name, raw := range fields {
		values["item."+name] = plainJSON(raw)
	}
}

// tellParent lets the parent hear how far the owner is.
func (d *draft) tellParent() {
	if d.Parent == nil || d.Deleted || d.progress() == d.Told {
		return
	}
	d.fact(ParentTold{d.progress()})
	d.effect(Effect{Kind: ReportToParent, Target: d.Parent.ID})
}

// Report is what a parent hears of the owner, which is its child.
func (o *Owner) Report() ChildReported {
	r := ChildReported{ID: o.ID, State: o.progress(), Cost: o.Cost()}
	switch {
	case o.Decision != nil:
		r.Why = o.Decision.Reason
	case r.State == ChildWaiting:
		r.Why = o.WaitingFor()
	case r.State == ChildFailed:
		r.Why = o.Error
	case r.State == ChildCancelled:
		r.Why = o.Cancelled
	}
	if o.Terminal() {
		r.Output = o.result()
	}
	return r
}

// WaitingFor is what the first child that waits is waiting for.
func (o *Owner) WaitingFor() string {
	if o.Offspring == nil {
		return ""
	}
	for _, c := range o.Offspring.Children {
		if c.State == ChildWaiting {
			return colon(c.Name, c.Why)
		}
	}
	return ""
}

// result is what the owner leaves behind as a whole: what its only step left, else what its pipeline
// says.
func (o *Owner) result() (out Output) {
	p, d := o.Plan.Pipeline, &draft{Owner: o}
	if o.Parent.Part {
		return o.Outputs[p.Steps[0].Name]
	}
	values := d.values()
	for name, text := range p.Outputs {
		if d.absent(text) == "" {
			out.Values = with(out.Values, name, runbook.Expand(text, values))
		}
	}
	out.Error = o.Error
	return out
}

// sound is an output as it is when it comes back from the store.
func (o Output) sound() Output {
	o.Values = soundOutput(o.Values)
	o.Tail, o.Signal, o.Error = clipStart(o.Tail, maxWords), clip(o.Signal, maxWords), clip(o.Error, maxWords)
	return o
}

func childID(owner string, serial int) string {
	sum := digest("child", owner, strconv.Itoa(serial))
	return hex.EncodeToString(sum[:8])
}
