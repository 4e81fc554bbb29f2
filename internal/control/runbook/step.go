package runbook

import (
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// conduct are the fields that say when and how a step runs.
func (d *decoder) conduct(s *Step) []field {
	return append([]field{
		document.Key("if", &s.If, d.condition(), "A condition: ==, !=, &&, || and ! over texts with templates. Where it does not hold, the step is skipped."),
		document.Key("timeout", &s.Timeout, duration, "How long the step may run before it fails. Default: 1h for a shell command, no limit for an agent."),
		document.Key("retry", &s.Retry, retry(), "How often the step is run before it has failed."),
	}, d.environment(&s.Env)...)
}

// environment are the fields that add to the environment of commands.
func (d *decoder) environment(e *Environment) []field {
	return []field{
		document.Key("env", &e.Set, texts(badVariable, variableSchema, d.words()), "Environment variables."),
		document.Key("env_file", &e.File, d.words(), "A file with lines of NAME=VALUE, read when the step starts; relative to where it runs."),
		document.Key("pass_env", &e.Pass, variables, "Environment variables of the shell in which the command was started. Their values are recorded."),
	}
}

// condition reads what a step's if says.
func (d *decoder) condition() typeOf[string] {
	return document.Then(text, func(v value, text string) (string, bool) {
		var bad *ConditionError
		if errors.As(checkCondition(text), &bad) {
			v.Source.Fault(insideText(v, bad.At), "if: "+bad.Message, `such as: "${var.env}" == "prod" && !${var.draft}`)
			return "", false
		}
		return text, d.use(v, text, "")
	})
}

func (r *Retry) fields() []field {
	return []field{
		document.Key("attempts", &r.Attempts, count, "How often the step is run, in all.").Needed(),
		document.Key("backoff", &r.Backoff, duration, "The pause before the second attempt; it doubles after that, up to an hour. Default: none."),
	}
}

// retry reads how often a step is run.
func retry() typeOf[Retry] { return document.Object((*Retry).fields).As(document.Ref("retry")) }

// variables are names of environment variables.
var variables = variableList(badVariable, variableSchema, `write a list of names: ["TOKEN"]`)

// VarVariable is the environment variable in which a step finds a variable of its pipeline.
func VarVariable(name string) string {
	return "VAR_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// checkVariables finds variables that have the same environment variable.
func (d *decoder) checkVariables(p *pipelineDraft) {
	known := map[string]string{}
	for i, name := range p.Vars {
		variable := VarVariable(name)
		if first, taken := known[variable]; taken {
			d.fault(p.vars[i], "the variables "+quote(first)+" and "+quote(name)+" would both be $"+variable, "rename one of them")
		}
		known[variable] = name
	}
}

// StepValue is the template of something that a step left behind.
type StepValue struct {
	Step string
	Kind string // output, log_tail, signal or error
	Name string // of an output
}

// The kinds of what a step leaves behind.
const (
	ValueOutput  = "output"   // what it wrote to $STOPGATE_OUTPUT, or what the agent's signal carries
	ValueLogTail = "log_tail" // the last lines that it printed
	ValueSignal  = "signal"   // the words of the agent's signal
	ValueError   = "error"    // why it failed
)

// ParseStepValue reads the name of a template such as steps.build.output.url. It is not of a step
// where ok is false, and not known where the value has no kind.
func ParseStepValue(name string) (v StepValue, ok bool) {
	rest, ok := strings.CutPrefix(name, "steps.")
	if !ok {
		return v, false
	}
	v.Step, rest, _ = strings.Cut(rest, ".")
	kind, output, named := strings.Cut(rest, ".")
	switch {
	case kind == ValueOutput && named && output != "" && !strings.Contains(output, "."):
		v.Kind, v.Name = kind, output
	case !named && (kind == ValueLogTail || kind == ValueSignal || kind == ValueError):
		v.Kind = kind
	}
	return v, true
}

// checkStepValues finds templates of steps that the pipeline does not have.
func (d *decoder) checkStepValues(p *pipelineDraft, uses []use) {
	steps := stepNames(p)
	for _, u := range uses {
		for _, name := range u.names {
			v, ok := ParseStepValue(name)
			template := "${" + name + "}"
			switch {
			case !ok || d.Overflows():
			case v.Kind == "":
				d.fault(d.inside(u.at, template), "unknown template "+template, "of a step there are: output.NAME, log_tail, signal, error")
			case !slices.Contains(steps, v.Step):
				d.fault(d.inside(u.at, template), template+": there is no step "+quote(v.Step)+" in pipeline "+quote(p.Name), document.OrValid("step", v.Step, steps))
			default:
				d.checkGroupValue(p, u, v)
			}
		}
	}
}

// checkGroupValue finds templates of what a step that runs others does not leave behind.
func (d *decoder) checkGroupValue(p *pipelineDraft, u use, v StepValue) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == v.Step })
	s, template := p.Steps[i], "${"+v.template()+"}"
	switch {
	case !s.HasChildren() || v.Kind == ValueError || v.Kind == ValueOutput && !s.Parallel:
	case s.Parallel:
		d.fault(d.inside(u.at, template), template+" has no value: step "+quote(s.Name)+" has branches", "name one of the branches in its place")
	default:
		d.fault(d.inside(u.at, template), template+" has no value: step "+quote(s.Name)+" runs pipelines of their own", "hand over what they print as an output")
	}
}

// template is the name of the template.
func (v StepValue) template() string {
	if v.Kind == ValueOutput {
		return "steps." + v.Step + "." + v.Kind + "." + v.Name
	}
	return "steps." + v.Step + "." + v.Kind
}
