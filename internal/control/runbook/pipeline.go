package runbook

import (
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/internal/project/document"
)

func (d *decoder) pipeline(v value) {
	p := &pipelineDraft{Pipeline: Pipeline{Name: v.Name}, at: keyOf(v)}
	ok := v.Mapping(d.pipelineFields(p)...)
	if steps := nodeOf(v).get("step"); ok && (steps == nil || steps.node.kind == document.List && len(steps.node.items) == 0) {
		d.fault(p.at, "pipeline "+quote(p.Name)+" has no step", "")
	}
	p.uses = d.uses
	d.pipelines = append(d.pipelines, p)
}

func (d *decoder) pipelineFields(p *pipelineDraft) []field {
	return append([]field{
		document.Key("vars", p, d.vars(), "Names that templates use as ${var.NAME}."),
		document.Key("defaults", &p.Defaults, texts(badName, nameSchema, text), "Values of variables that no argument gives."),
		document.Key("cwd", &p.Cwd, d.words(), "Where the steps run. Default: where the command was started."),
		document.Key("notify", &p.Notify, d.notify(), ""),
		document.Key("budget", &p.Budget, budget(), ""),
		document.Key("expire", &p.Expire, expire(), ""),
		document.Key("step", p, d.steps(), "The steps. It begins with the first; after that only transitions lead from one to another."),
	}, d.transitions(&p.OnDone, &p.OnFail, &p.OnCancel, &p.moves)...)
}

func (d *decoder) steps() typeOf[pipelineDraft] {
	return document.New(func(v value, p *pipelineDraft) bool {
		items, ok := v.List("their order matters: write [[pipeline." + p.Name + ".step]] with name = \"…\" for each")
		for _, item := range items {
			d.step(item, p)
		}
		return ok
	}, func() schema { return schema{"type": "array", "items": document.Ref("step")(), "minItems": 1} })
}

func (d *decoder) step(v value, p *pipelineDraft) {
	var s Step
	draft := stepDraft{at: nodeOf(v).at}
	if v.Mapping(d.stepFields(p, &s, &draft)...) {
		p.Steps, p.steps = append(p.Steps, s), append(p.steps, draft)
	}
}

func (d *decoder) stepFields(p *pipelineDraft, s *Step, draft *stepDraft) []field {
	return append([]field{
		document.Key("name", s, document.New(func(v value, s *Step) bool {
			draft.at = nodeOf(v).at
			ok := is(v, document.Text, "")
			if ok {
				s.Name = v.Node.Text()
				d.stepName(s.Name, draft.at, p)
			}
			return ok
		}, func() schema { return nameSchema().With("not", document.Enum(EndDone, EndFailed, EndCancelled)) }), "The step's name.").Needed(),
		d.run(&s.Run, &draft.runAt, "A shell command, or { agent = \"NAME\" }.", "agent"),
	}, d.transitions(&s.OnDone, &s.OnFail, &s.OnCancel, &draft.moves)...)
}

func (d *decoder) stepName(name string, at span, p *pipelineDraft) {
	if !d.checkName(name, mark{d.source, at}) {
		return
	}
	if IsEnd(name) {
		d.fault(at, "a step cannot be called "+quote(name)+": that is how a pipeline ends", "")
	}
	if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == name }); i >= 0 {
		d.fault(at, "duplicate step "+quote(name), "it is already on line "+strconv.Itoa(d.line(p.steps[i].at)))
	}
}

// transitions are the fields that lead to another step.
func (d *decoder) transitions(done, fail, cancel *string, moves *[]move) []field {
	one := func(key string, to *string, says string) field {
		target := field{Name: "step", Required: true, Type: nameSchema, Read: func(v value) {
			if readText(v, to) {
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
	return []field{
		one("on_done", done, "The step after this one. Where there is none, the pipeline is done."),
		one("on_fail", fail, "The step after a failure. Where there is none, the pipeline has failed."),
		one("on_cancel", cancel, "The step after a cancel, to clean up."),
	}
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
