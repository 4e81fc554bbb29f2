package runbook

import (
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// GraphStep is the step that runs the steps of a pipeline in the order that their needs say.
const GraphStep = "steps"

// groupFields are those of a step that runs several things, or another pipeline.
func (d *decoder) groupFields(p *pipelineDraft, s *Step, draft *stepDraft) []field {
	return []field{
		document.Key("parallel", draft, d.branches(p), "Branches: steps that run at once. The step is done when all of them are."),
		document.Key("needs", draft, needs, "The steps that must be done before this one starts. Steps that need nothing start at once."),
		document.Key("for_each", &s.ForEach, d.forEach(draft), "Run the step once for each: a list, or a text that is a JSON array or has one item on each line. ${item} is the item."),
		document.Key("limit", &s.Limit, count, "How many branches or items run at once. Default: all."),
		document.Key("fail_fast", &s.FailFast, document.Flag, "Whether the first failure cancels the other branches or items.").Default(false),
		document.Key("uses", &s.Run.Pipeline, pipelineName(draft), "A pipeline to run as this step."),
		document.Key("vars", &s.Vars, texts(badName, nameSchema, d.words()), "The variables that the pipeline of uses is given."),
	}
}

// branches reads the steps that a step runs at once.
func (d *decoder) branches(p *pipelineDraft) typeOf[stepDraft] {
	return document.New(func(v value, draft *stepDraft) bool {
		items, ok := v.List("use [[pipeline." + nameOf(p) + ".step.parallel]] with name = \"…\" for each branch")
		draft.parallel = nodeOf(v)
		for _, item := range items {
			inner := &pipelineDraft{}
			d.step(item, inner)
			draft.branches, draft.inner = append(draft.branches, inner.Steps...), append(draft.inner, inner.steps...)
		}
		return ok
	}, func() schema { return schema{"type": "array", "items": document.Ref("step")(), "minItems": 1} })
}

func nameOf(p *pipelineDraft) string {
	if p == nil || p.Name == "" {
		return "NAME"
	}
	return p.Name
}

// needs reads the names of steps.
var needs = document.New(func(v value, draft *stepDraft) bool {
	items, ok := v.List(`write a list of steps: ["build", "test"]`)
	for _, item := range items {
		if is(item, document.Text, "") {
			draft.needs = append(draft.needs, move{"needs", item.Node.Text(), nodeOf(item).at})
		}
	}
	return ok
}, func() schema { return schema{"type": "array", "items": nameSchema(), "minItems": 1} })

// forEach reads what a step runs for.
func (d *decoder) forEach(draft *stepDraft) typeOf[ForEach] {
	list := document.New(func(v value, to *ForEach) bool {
		draft.each = true
		if v.Node.Kind() != document.List {
			return d.words().Read(v, &to.Text)
		}
		to.List = []string{}
		return document.ListOf(d.words(), "").Read(v, &to.List)
	}, func() schema {
		return document.AnyOf(document.AnyText(), schema{"type": "array", "items": document.AnyText()})
	})
	return list
}

// pipelineName reads which pipeline a step runs.
func pipelineName(draft *stepDraft) typeOf[string] {
	return document.Then(text, func(v value, name string) (string, bool) {
		draft.runAt = nodeOf(v).at
		return name, true
	})
}

// addStep adds a step with its branches.
func (p *pipelineDraft) addStep(s Step, draft stepDraft) {
	for _, need := range draft.needs {
		s.Needs = append(s.Needs, need.to)
	}
	s.Parallel = draft.parallel != nil
	p.Steps, p.steps = append(p.Steps, s), append(p.steps, draft)
	for i, branch := range draft.branches {
		branch.Of = s.Name
		p.Steps, p.steps = append(p.Steps, branch), append(p.steps, draft.inner[i])
	}
}

// checkGroups looks at branches, needs and items.
func (d *decoder) checkGroups(p *pipelineDraft) {
	d.checkBranchNames(p)
	for i, s := range p.Steps {
		d.checkGroup(s, p.steps[i])
		d.checkItems(s, p.steps[i])
	}
	d.checkNeeds(p)
}

// checkBranchNames finds branches that are called like another step.
func (d *decoder) checkBranchNames(p *pipelineDraft) {
	for i, s := range p.Steps {
		first := slices.IndexFunc(p.Steps, func(other Step) bool { return other.Name == s.Name })
		if s.Name != "" && first < i && (s.Of != "" || p.Steps[first].Of != "") {
			d.fault(p.steps[i].at, "duplicate step "+quote(s.Name), "branches and steps of a pipeline have different names")
		}
	}
}

// checkGroup finds fields that mean nothing together.
func (d *decoder) checkGroup(s Step, draft stepDraft) {
	switch {
	case s.Of != "" && s.Of != GraphStep && s.Parallel:
		d.fault(draft.key("parallel"), "a branch cannot have branches of its own", "make them a pipeline, and run it with uses")
	case s.Of != "" && len(draft.moves) > 0:
		d.fault(draft.moves[0].at, draft.moves[0].field+": a branch leads to no other step", "use on_done or on_fail of step "+quote(s.Of)+", or run a pipeline with uses")
	case s.Parallel && !s.ForEach.IsZero():
		d.fault(draft.key("for_each"), "parallel and for_each cannot be combined", "make the branches a pipeline, and run it for each item with uses")
	case s.Approval != nil && !s.ForEach.IsZero():
		d.fault(draft.key("for_each"), "approval and for_each cannot be combined", "make the approval a pipeline, and run it for each item with uses")
	}
	for field, hint := range s.pointless() {
		if e := draft.get(field); e != nil {
			d.fault(e.at, field+" has no meaning here", hint)
		}
	}
}

// pointless are the fields that mean nothing for what a step does, with what to do instead.
func (s Step) pointless() map[string]string {
	all := map[string]string{}
	add := func(hint string, fields ...string) {
		for _, field := range fields {
			all[field] = hint
		}
	}

	switch {
	case s.Approval != nil:
		add("an approval runs nothing", "retry", "cwd", "env", "env_file", "pass_env")
		add("use expire of the approval", "timeout")
	case s.Parallel:
		add("write it in the branches", "retry", "cwd", "env", "env_file", "pass_env")
	case s.Run.Pipeline != "":
		add("write it in the steps of the pipeline", "retry", "cwd", "env", "env_file", "pass_env")
	}

	if !s.Parallel && s.ForEach.IsZero() {
		add("it is for parallel and for_each", "limit", "fail_fast")
	}
	if s.Run.Pipeline == "" {
		add("it is for uses: this step knows the variables of its pipeline", "vars")
	}
	return all
}

// get is a field of the step as it is written, or nil.
func (s stepDraft) get(field string) *entry {
	if s.node == nil {
		return nil
	}
	return s.node.get(field)
}

// key is the place of a field's name, or of the step.
func (s stepDraft) key(field string) span {
	if e := s.get(field); e != nil {
		return e.at
	}
	return s.at
}

// checkItems warns of items that are cut off.
func (d *decoder) checkItems(s Step, draft stepDraft) {
	for _, name := range Names(s.ForEach.Text) {
		if v, ok := ParseStepValue(name); ok && v.Kind == ValueLogTail {
			d.warn(draft.key("for_each"), "for_each gets only the last lines of ${"+name+"}", "write a JSON array to $STOPGATE_OUTPUT, and use ${steps."+v.Step+".output.NAME}")
		}
	}
}

// checkNeeds looks for what needs name: branches of the same step, or steps of the pipeline.
func (d *decoder) checkNeeds(p *pipelineDraft) {
	for i, s := range p.Steps {
		for _, need := range p.steps[i].needs {
			d.checkNeed(p, s, need)
		}
	}
	if cycle := needCycle(p); cycle != nil {
		i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == cycle[0] })
		d.fault(p.steps[i].needs[0].at, "needs goes in a circle: "+strings.Join(append(cycle, cycle[0]), " → "), "")
	}
}

func (d *decoder) checkNeed(p *pipelineDraft, s Step, need move) {
	var known []string
	for _, other := range p.Steps {
		if other.Of == s.Of && other.Name != s.Name && other.Name != GraphStep {
			known = append(known, other.Name)
		}
	}
	switch {
	case slices.Contains(known, need.to):
	case need.to == s.Name:
		d.fault(need.at, "needs: step "+quote(s.Name)+" cannot need itself", "")
	case s.Of != "" && s.Of != GraphStep:
		d.fault(need.at, "needs: there is no branch "+quote(need.to)+" beside "+quote(s.Name), document.OrValid("branch", need.to, known))
	default:
		d.fault(need.at, "needs: there is no step "+quote(need.to)+" in pipeline "+quote(p.Name), document.OrValid("step", need.to, known))
	}
}

// needCycle is a circle of needs, or nil.
func needCycle(p *pipelineDraft) (cycle []string) {
	of := map[string][]string{}
	for _, s := range p.Steps {
		of[s.Name] = s.Needs
	}

	done := map[string]bool{}
	var visit func(name string, path []string) bool
	visit = func(name string, path []string) bool {
		if i := slices.Index(path, name); i >= 0 {
			cycle = slices.Clone(path[i:])
			return true
		}
		if done[name] {
			return false
		}
		for _, need := range of[name] {
			if need != name && visit(need, append(path, name)) {
				return true
			}
		}
		done[name] = true
		return false
	}

	for _, s := range p.Steps {
		if visit(s.Name, nil) {
			return cycle
		}
	}
	return nil
}

// graph makes branches of the steps of a pipeline that need others, or are needed: they are run by
// one step, with which the pipeline begins.
func (d *decoder) graph(p *pipelineDraft) {
	member, sound := graphMembers(p)
	if len(member) == 0 {
		return
	}

	for i := range p.Steps {
		s, draft := &p.Steps[i], &p.steps[i]
		if s.Name == GraphStep {
			d.fault(draft.at, "a step cannot be called "+quote(GraphStep)+" in a pipeline with needs", "rename it")
		}
		if i == 0 && !member[s.Name] && sound {
			d.fault(draft.at, "the pipeline begins with step "+quote(s.Name)+", which no needs names", "let a step need it, or use on_done in place of needs")
			member[s.Name] = true
		}
		if s.Of == "" && (member[s.Name] || !sound) {
			d.graphStep(s, draft)
		}
	}

	p.Steps = slices.Insert(p.Steps, 0, Step{Name: GraphStep, Parallel: true})
	p.steps = slices.Insert(p.steps, 0, stepDraft{at: p.at})
}

// graphMembers are the steps that need others, or are needed. They are not sound where a need is
// not a step.
func graphMembers(p *pipelineDraft) (member map[string]bool, sound bool) {
	member, sound = map[string]bool{}, true
	for _, s := range p.Steps {
		if s.Of != "" || len(s.Needs) == 0 {
			continue
		}
		member[s.Name] = true
		for _, need := range s.Needs {
			member[need] = true
			sound = sound && slices.ContainsFunc(p.Steps, func(other Step) bool { return other.Name == need && other.Of == "" })
		}
	}
	return member, sound
}

// graphStep makes a step a branch.
func (d *decoder) graphStep(s *Step, draft *stepDraft) {
	s.Of = GraphStep
	switch {
	case s.Parallel:
		d.fault(draft.at, "a step with needs cannot have branches of its own", "make the branches steps with needs")
	case len(draft.moves) > 0:
		d.fault(draft.moves[0].at, draft.moves[0].field+": a step in a graph of needs leads to no other", "let the other step need "+quote(s.Name)+", or use on_done and on_fail of the pipeline")
		draft.moves = nil
	}
}

// comesBefore reports whether a branch has always ended when another one starts.
func (p *pipelineDraft) comesBefore(name string, of Step) bool {
	seen := map[string]bool{} // by many ways, perhaps
	open := slices.Clone(of.Needs)
	for len(open) > 0 {
		need := open[0]
		open = open[1:]
		if need == name {
			return true
		}
		i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == need })
		if i >= 0 && !seen[need] {
			seen[need] = true
			open = append(open, p.Steps[i].Needs...)
		}
	}
	return false
}

// checkBranchValues finds branches that want something of a branch which may not have ended, and
// items where there are none.
func (d *decoder) checkBranchValues(p *pipelineDraft) {
	if d.Count > 0 {
		return // needs may go in a circle
	}
	for i, s := range p.Steps {
		for _, u := range p.steps[i].uses {
			for _, name := range u.names {
				d.checkBranchValue(p, s, u, name)
			}
		}
	}
}

func (d *decoder) checkBranchValue(p *pipelineDraft, s Step, u use, name string) {
	template := "${" + name + "}"
	if s.ForEach.IsZero() && itemOf(u, name) {
		d.fault(d.inside(u.at, template), template+" has no value: the step has no for_each", "")
		return
	}
	v, ok := ParseStepValue(name)
	i := slices.IndexFunc(p.Steps, func(other Step) bool { return other.Name == v.Step })
	if !ok || s.Of == "" || i < 0 || p.Steps[i].Of != s.Of || p.comesBefore(v.Step, s) {
		return
	}
	d.fault(d.inside(u.at, template), template+" may have no value: branch "+quote(v.Step)+" runs at the same time", "add needs = ["+quote(v.Step)+"]")
}

// itemOf reports whether a template of a text stands for an item: in a script, ${item} may be a variable of
// the shell.
func itemOf(u use, name string) bool {
	return isItem(name) && (u.shell == "" || strings.Contains(name, "."))
}

// checkAgentItems finds agents that name an item, in steps that have none.
func (d *decoder) checkAgentItems(p *pipelineDraft) {
	agents := d.allAgents()
	for i, s := range p.Steps {
		at := slices.IndexFunc(agents, func(a *agentDraft) bool { return a.Name == s.Run.Agent })
		if s.Run.Agent == "" || at < 0 || !s.ForEach.IsZero() {
			continue
		}
		for _, u := range agents[at].uses {
			for _, name := range u.names {
				if itemOf(u, name) && !d.Overflows() {
					d.fault(p.steps[i].runAt, "${"+name+"} of agent "+quote(s.Run.Agent)+" has no value: the step has no for_each", "")
					break
				}
			}
		}
	}
}

// checkUses looks at the pipelines that steps run: they exist, do not run themselves, and get the
// variables that they need.
func (d *decoder) checkUses() {
	pipelines := map[string]*pipelineDraft{}
	for _, p := range d.allPipelines() {
		pipelines[p.Name] = p
	}
	for _, p := range d.pipelines {
		for i, s := range p.Steps {
			used := pipelines[s.Run.Pipeline]
			if s.Run.Pipeline == "" || used == nil || d.Overflows() {
				continue
			}
			if path := usesPath(pipelines, used, p.Name, map[string]bool{}); path != nil {
				d.fault(p.steps[i].runAt, "pipeline "+quote(p.Name)+" runs itself: "+strings.Join(append([]string{p.Name}, path...), " → "), "")
				continue
			}
			d.checkUsedVars(p, s, p.steps[i], used)
		}
	}
}

// runs reports whether a step runs the pipeline of that name.
func (p *pipelineDraft) runs(name string) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Run.Pipeline == name })
}

// usesPath is the way by which a pipeline runs the one of that name, or nil. Those that were seen before
// do not run it.
func usesPath(pipelines map[string]*pipelineDraft, from *pipelineDraft, to string, seen map[string]bool) []string {
	if from.Name == to {
		return []string{to}
	}
	if seen[from.Name] {
		return nil
	}
	seen[from.Name] = true
	for _, s := range from.Steps {
		if next := pipelines[s.Run.Pipeline]; next != nil {
			if path := usesPath(pipelines, next, to, seen); path != nil {
				return append([]string{from.Name}, path...)
			}
		}
	}
	return nil
}

// checkUsedVars compares what a step gives a pipeline with what that takes.
func (d *decoder) checkUsedVars(p *pipelineDraft, s Step, draft stepDraft, used *pipelineDraft) {
	given := with(with(nil, used.Defaults), s.Vars)
	taken := slices.Clone(used.Vars)
	for _, u := range d.pipelineUses(used) {
		for _, name := range u.names {
			if variable, ok := strings.CutPrefix(name, "var."); ok {
				taken = append(taken, variable)
			}
		}
	}

	slices.Sort(taken)
	for _, name := range slices.Compact(taken) {
		if _, has := given[name]; !has {
			d.fault(draft.runAt, "step "+quote(s.Name)+" gives pipeline "+quote(used.Name)+" no value for variable "+quote(name)+", and it has no default", "add it to vars of the step")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Vars)) {
		if !slices.Contains(taken, name) {
			d.fault(draft.runAt, "pipeline "+quote(used.Name)+" has no variable "+quote(name), document.OrValid("variable", name, slices.Compact(taken)))
		}
	}
}

// pipelineUses are the templates of a pipeline and of its agents.
func (d *decoder) pipelineUses(p *pipelineDraft) []use {
	all := p.home.through(p.uses, &p.locals)
	for _, a := range d.allAgents() {
		if slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Run.Agent == a.Name }) {
			all = append(all, d.agentUses(a, p)...)
		}
	}
	return all
}
