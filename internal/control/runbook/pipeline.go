package runbook

import (
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/internal/project/document"
)

func (d *decoder) pipeline(v value) {
	p := &pipelineDraft{Pipeline: Pipeline{Name: v.Name}, home: d, at: keyOf(v), locals: scope{outer: &d.locals}}
	ok := v.Mapping(d.pipelineFields(p)...)
	if steps := nodeOf(v).get("step"); ok && (steps == nil || steps.node.kind == document.List && len(steps.node.items) == 0) {
		d.fault(p.at, "pipeline "+quote(p.Name)+" has no step", "")
	}
	d.graph(p)
	p.uses = d.uses
	d.pipelines = append(d.pipelines, p)
}

func (d *decoder) pipelineFields(p *pipelineDraft) []field {
	fields := slices.Concat(d.environment(&p.Env), []field{
		document.Key("vars", p, d.vars(), "Names that templates use as ${var.NAME}."),
		document.Key("defaults", &p.Defaults, texts(badName, nameSchema, text), "Default values of variables."),
		d.localsField(&p.locals),
		document.Key("cwd", &p.Cwd, d.words(), "Working directory of the steps. Default: where the command was started."),
		document.Key("workspace", &p.Workspace, d.workspace(), ""),
		document.Key("notify", &p.Notify, d.notify(), ""),
		document.Key("max_visits", &p.MaxVisits, count, "How often one step may be entered before the pipeline fails. Default: 5."),
		document.Key("budget", &p.Budget, budget(), ""),
		document.Key("schedule", &p.Schedule, d.schedule(pipelineScheduleFields, "pipeline_schedule"), "When it starts automatically: five cron fields, or a table."),
		document.Key("concurrency", &p.Concurrency, d.concurrency(), "A group with a limit of how many run at once. A text is the group."),
		document.Key("expire", &p.Expire, expire(), ""),
		document.Key("step", p, d.steps(), "The steps. The pipeline starts with the first; transitions lead to the others."),
	}, d.transitions(&p.OnDone, &p.OnFail, &p.OnCancel, &p.moves))
	fields = append(fields, document.Key("outputs", &p.Outputs, texts(badName, nameSchema, d.words()), "What a step that runs this pipeline with uses gets: ${steps.STEP.output.NAME}."))
	return append(fields, d.transition("finally", &p.Finally, &p.moves, "The step before every end: done, failed or cancelled."))
}

func (d *decoder) steps() typeOf[pipelineDraft] {
	return document.New(func(v value, p *pipelineDraft) bool {
		items, ok := v.List("their order matters: use [[pipeline." + p.Name + ".step]] with name = \"…\" for each")
		for _, item := range items {
			d.step(item, p)
		}
		return ok
	}, func() schema { return schema{"type": "array", "items": document.Ref("step")(), "minItems": 1} })
}

func (d *decoder) step(v value, p *pipelineDraft) {
	var s Step
	draft, first := stepDraft{at: nodeOf(v).at, node: nodeOf(v)}, len(d.uses)
	if v.Mapping(d.stepFields(p, &s, &draft)...) {
		d.oneRun(v)
		for i := first; i < len(d.uses); i++ {
			d.uses[i].item, d.uses[i].step = d.uses[i].item || draft.each, true
		}
		draft.uses = slices.Clone(d.uses[first:])
		p.addStep(s, draft)
	}
}

func (d *decoder) stepFields(p *pipelineDraft, s *Step, draft *stepDraft) []field {
	return slices.Concat([]field{
		document.Key("name", s, document.New(func(v value, s *Step) bool {
			draft.at = nodeOf(v).at
			ok := is(v, document.Text, "")
			if ok {
				s.Name = v.Node.Text()
				d.stepName(s.Name, draft.at, p)
			}
			return ok
		}, func() schema { return nameSchema().With("not", document.Enum(EndDone, EndFailed, EndCancelled)) }), "The step's name.").Needed(),
		d.stepRun(&s.Run, &draft.runAt),
		document.Key("approval", &s.Approval, d.approval(draft), "A question to a person, in place of run."),
		document.Key("cwd", &s.Cwd, d.words(), "Working directory, relative to the workspace or the pipeline's cwd."),
	}, d.conduct(s), d.groupFields(p, s, draft), d.transitions(&s.OnDone, &s.OnFail, &s.OnCancel, &draft.moves))
}

// stepRun is what a step runs, unless a person decides it.
func (d *decoder) stepRun(to *Run, at *span) field {
	f := d.run(to, at, "A shell command, or { agent = \"NAME\" }.", "agent")
	f.Required = false
	return f
}

// oneRun sees to it that a step does one thing.
func (d *decoder) oneRun(v value) {
	var given []*entry
	for _, key := range doings {
		if e := nodeOf(v).get(key); e != nil {
			given = append(given, e)
		}
	}
	switch {
	case len(given) == 0:
		wrong(v, "a step needs run, uses, parallel or approval", `such as: run = "make test"`)
	case len(given) > 1:
		d.fault(given[1].at, given[0].key+" and "+given[1].key+" cannot be combined", "make them two steps")
	}
}

// doings are the fields that say what a step does. It has one of them.
var doings = []string{"run", "uses", "parallel", "approval"}

func (d *decoder) stepName(name string, at span, p *pipelineDraft) {
	if !d.checkName(name, mark{d.source, at}) {
		return
	}
	if IsEnd(name) {
		d.fault(at, "a step cannot be called "+quote(name)+": that is the end of a pipeline", "rename it, and the transitions that lead to it")
	}
	if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == name }); i >= 0 {
		d.fault(at, "duplicate step "+quote(name), "it is already on line "+strconv.Itoa(d.line(p.steps[i].at)))
	}
}

// transitions are the fields that lead to another step.
func (d *decoder) transitions(done, fail, cancel *string, moves *[]move) []field {
	return []field{
		d.transition("on_done", done, moves, "The next step. Without it, the pipeline is done."),
		d.transition("on_fail", fail, moves, "The step after a failure. Without it, the pipeline fails."),
		d.transition("on_cancel", cancel, moves, "The step after a cancel, for cleanup."),
	}
}

// transition is a field that leads to another step.
func (d *decoder) transition(key string, to *string, moves *[]move, says string) field {
	target := field{Name: "step", Required: true, Type: nameSchema, Read: func(v value) {
		if text.Read(v, to) {
			*moves = append(*moves, move{key, *to, nodeOf(v).at})
		}
	}}
	return field{Name: key, Read: func(v value) {
		if v.Node.Kind() == document.Mapping {
			v.Mapping(target)
			return
		}
		target.Read(v)
	}, Type: func() schema { return document.AnyOf(nameSchema(), document.Properties(target)) }, Says: says}
}

func (d *decoder) vars() typeOf[pipelineDraft] {
	return document.New(func(v value, p *pipelineDraft) bool {
		items, ok := v.List("write a list of names: [\"name\"]")
		for _, item := range items {
			name := item.Node.Text()
			switch {
			case !is(item, document.Text, "") || !d.checkName(name, item.Node):
			case slices.Contains(p.Vars, name):
				wrong(item, "duplicate variable "+quote(name), "")
			default:
				p.Vars, p.vars = append(p.Vars, name), append(p.vars, nodeOf(item).at)
			}
		}
		return ok
	}, func() schema { return schema{"type": "array", "items": nameSchema(), "uniqueItems": true} })
}
