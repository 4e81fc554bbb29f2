package runbook

import "github.com/stopgate/stopgate/internal/project/document"

//go:generate go run ./schemagen

// MakeSchema makes the JSON Schema of runbooks out of the tables that they are decoded by,
// for editors that know TOML.
func MakeSchema() document.Schema {
	d := &decoder{}
	agent := document.Properties(d.agentFields(&agentDraft{})...)
	agent["not"] = schema{"required": []string{"prompt", "prompt_file"}}
	s := document.Properties(d.fields()...).With("title", ".gauntlet/runbooks/NAME.toml")
	s["$defs"] = schema{
		"command":  document.Properties(d.commandFields(&commandDraft{})...),
		"pipeline": document.Properties(d.pipelineFields(&pipelineDraft{})...).With("required", []string{"step"}),
		"step":     document.Properties(d.stepFields(nil, &Step{}, &stepDraft{})...),
		"agent":    agent,
		"notify":   document.Properties(d.notifyFields(&Notify{})...).Says("What people are told."),
		"budget":   document.Properties(new(Budget).fields()...).With("minProperties", 1).Says("What may be spent before a person is asked."),
		"expire":   document.Properties(new(Expire).fields()...).Says("What becomes of decisions that nobody answers."),
	}
	return s
}
