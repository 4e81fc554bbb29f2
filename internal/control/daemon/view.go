package daemon

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// ownerView is an owner as others see it; lists leave out its steps, outputs and variables.
func ownerView(o *engine.Owner, whole bool) daemonapi.Owner {
	view := daemonapi.Owner{
		ID: o.ID, Kind: string(o.Kind), Name: o.Name, Command: o.Command, Project: o.Project, Cwd: o.Cwd,
		Step: o.Step, Status: status(o), Error: o.Error, Reason: whyThere(o), Created: o.Created, Updated: o.Updated,
		By: o.By, Worked: o.Ran.Seconds(), USD: o.Cost().USD, Tokens: o.Cost().Tokens,
	}

	if o.Job != nil {
		view.Job = o.Job.ID
	}
	if !o.Ended.IsZero() {
		view.Ended, view.Duration = &o.Ended, o.Ended.Sub(o.Created).Seconds()
	}
	if o.Agent != nil {
		agent := agentView(o)
		view.Agent = &agent
	}
	if o.Decision != nil {
		decision := decisionView(o, *o.Decision)
		view.Decision = &decision
	}

	for _, name := range slices.Sorted(maps.Keys(o.Workspaces)) {
		view.Workspaces = append(view.Workspaces, *workspaceView(o, name, o.Workspaces[name]))
	}
	if o.Parent != nil {
		view.Parent = o.Parent.ID
	}

	if whole {
		view.Vars = o.Vars
		for i, v := range o.History {
			view.Steps = append(view.Steps, visitView(o, v, i == len(o.History)-1))
		}
		view.Outputs = outputViews(o.Outputs)
	}
	return view
}

// outputViews are what steps left behind; those that left nothing are left out.
func outputViews(outputs map[string]engine.Output) map[string]daemonapi.Output {
	views := map[string]daemonapi.Output{}
	for step, out := range outputs {
		if len(out.Values) > 0 || out.Signal != "" {
			views[step] = daemonapi.Output{Values: out.Values, Signal: out.Signal}
		}
	}
	return views
}

// status is one word for how far an owner is: at its end, that is the step's name.
func status(o *engine.Owner) string {
	switch {
	case o.Terminal():
		return o.Step
	case o.Waits():
		return string(engine.Waiting)
	}
	return string(o.Status)
}

// childViews are the pipelines that steps of an owner ran, run and will run, as others see them.
func childViews(o *engine.Owner, started []*engine.Owner) (views []daemonapi.Child) {
	for _, c := range started {
		view := daemonapi.Child{Name: c.Parent.Name, Step: c.Parent.Step, ID: c.ID, Status: status(c), Reason: whyThere(c), Updated: &c.Updated}
		if c.Parent.Item != nil {
			view.Item = *c.Parent.Item
		}
		views = append(views, view)
	}
	if o.Offspring == nil {
		return views
	}
	for _, c := range o.Offspring.Children {
		if c.ID == "" {
			views = append(views, daemonapi.Child{Name: c.Name, Step: o.Offspring.Step, Item: c.Item, Status: string(c.State), Reason: c.Why})
		}
	}
	return views
}

// whyThere is why an owner is where it is, where that needs a reason.
func whyThere(o *engine.Owner) string {
	switch {
	case o.Decision != nil:
		return o.Decision.Reason
	case o.Waits():
		return o.WaitingFor()
	case o.Step == runbook.EndCancelled:
		return o.Cancelled
	}
	return o.Error
}

func workspaceView(o *engine.Owner, agent string, w engine.Workspace) *daemonapi.Workspace {
	return &daemonapi.Workspace{
		Agent: agent, Kind: string(w.Kind), Path: o.WorkspacePath(w), Branch: w.Branch, Base: w.Base,
		State: string(w.State), Kept: w.Kept, Note: w.Note,
	}
}

func visitView(o *engine.Owner, v engine.Visit, last bool) daemonapi.Visit {
	view := daemonapi.Visit{Step: v.Step, Attempt: v.Attempt, Agent: v.AgentID, Started: v.Started, Outcome: v.Outcome, Error: v.Error}
	if !v.Finished.IsZero() {
		view.Finished = &v.Finished
	}
	if v.Outcome == "" {
		view.Outcome = string(engine.Running)
		if last && o.Status == engine.Waiting {
			view.Outcome = string(engine.Waiting)
		}
	}
	return view
}

// anyAgent is what is known of an agent by its name and id alone.
func anyAgent(o *engine.Owner, step, name, id string) daemonapi.Agent {
	planned, spent := o.Plan.Agents[name], o.Spent[id]
	return daemonapi.Agent{
		ID: id, Name: name, Owner: o.ID, Project: o.Project, Step: step, ClaudeCode: planned.ClaudeCode,
		OnStop: string(planned.StopAction(o.Kind == engine.AgentRun)),
		USD:    spent.USD, Tokens: spent.Tokens,
	}
}

// agentView is the owner's agent, which it has.
func agentView(o *engine.Owner) daemonapi.Agent {
	a := o.Agent
	view := anyAgent(o, o.Step, a.Name, a.ID)
	view.ClaudeCode = a.ClaudeCode // as it was started
	view.Session, view.Status, view.Started, view.Ready = a.Session, string(o.Status), a.Started, a.Ready

	until, parked := o.Parked()
	switch {
	case a.Exited || o.Terminal():
		view.Status = "exited"
	case parked && o.Status == engine.Running:
		view.Status = "parked"
		if !until.IsZero() {
			view.Until = &until
		}
	}

	if a.Signal != nil {
		view.Signal = a.Signal.Kind
	}
	return view
}

// pastView is an agent that a step had.
func pastView(o *engine.Owner, v engine.Visit) daemonapi.Agent {
	view := anyAgent(o, v.Step, agentOf(o, v.Step), v.AgentID)
	view.Session, view.Status, view.Started = cmp.Or(v.Session, v.AgentID), "exited", v.Started
	if !v.Finished.IsZero() {
		view.Ended = &v.Finished
	}
	return view
}

// agentOf is the name of the agent that a step has.
func agentOf(o *engine.Owner, step string) string {
	for i := range o.Plan.Pipeline.Steps {
		if s := &o.Plan.Pipeline.Steps[i]; s.Name == step {
			return s.Run.Agent
		}
	}
	return ""
}

func decisionView(o *engine.Owner, d engine.Decision) daemonapi.Decision {
	view := daemonapi.Decision{
		ID: d.ID, Owner: o.ID, Name: o.Name, Project: o.Project, Source: string(d.Source), Step: d.Step,
		Agent: d.AgentID, Context: d.Context, Created: d.Created,
		Chosen: d.Chosen, Message: d.Message, Closed: d.Closed, Ask: d.Ask, Answers: d.Answers,
	}
	if !d.Expires.IsZero() && d.Resolved.IsZero() {
		view.Expires, view.OnExpiry = &d.Expires, string(o.Plan.Pipeline.Expire.Answer)
	}
	if !d.Resolved.IsZero() {
		view.Resolved = &d.Resolved
	}
	for i, option := range d.Options {
		view.Options = append(view.Options, daemonapi.Option{
			Number: i + 1, Name: option.Name, Description: option.Description, Recommended: option.Recommended,
		})
	}
	return view
}

// count adds so many owners of a status to how many are how far.
func count(c *daemonapi.Counts, status string, n int) {
	switch status {
	case runbook.EndDone:
		c.Done += n
	case runbook.EndFailed:
		c.Failed += n
	case runbook.EndCancelled:
		c.Cancelled += n
	case string(engine.Waiting):
		c.Waiting += n
	case string(engine.Queued):
		c.Queued += n
	default:
		c.Running += n
	}
}
