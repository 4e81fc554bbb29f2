package runbook

import (
	"slices"

	"github.com/stopgate/stopgate/internal/project/document"
)

//go:generate go run ./schemagen

// MakeSchema makes the JSON Schema of runbooks out of the tables that they are decoded by,
// for editors that know TOML.
func MakeSchema() document.Schema {
	d := &decoder{files: new(int)}
	agent := document.Properties(d.agentFields(&agentDraft{})...)
	agent["not"] = schema{"required": []string{"prompt", "prompt_file"}}

	s := document.Properties(d.fields()...).With("title", ".gauntlet/runbooks/NAME.toml")
	s["$defs"] = schema{
		"command":  document.Properties(d.commandFields(&commandDraft{})...),
		"pipeline": document.Properties(d.pipelineFields(&pipelineDraft{})...).With("required", []string{"step"}),
		"step":     stepSchema(d),
		"approval": document.Properties(d.approvalFields(&Approval{}, &stepDraft{})...).Says("A question to a person."),
		"agent":    agent,
		"import":   importSchema(d),
		"const":    document.Properties(constFields(&constant{})...).Says("A const, whose value an importer gives."),
		"workspace": document.Properties(d.workspaceFields(&Workspace{})...).Says("A git worktree or a folder of its own.").
			With("oneOf", workspaceForms()),
		"queue":             document.Properties(d.queueFields(&queueDraft{}, new(span))...),
		"worker":            document.Properties(d.workerFields(&workerDraft{})...),
		"source":            document.Properties(d.sourceFields(&Source{})...).Says("A command that lists the items of a queue."),
		"command_schedule":  document.Properties(commandScheduleFields(&Schedule{})...).Says("When a command starts automatically."),
		"pipeline_schedule": document.Properties(pipelineScheduleFields(&Schedule{})...).Says("When a pipeline starts automatically."),
		"concurrency":       document.Properties(d.concurrencyFields(&Concurrency{})...).Says("A group with a limit of how many run at once."),
		"job":               document.Properties(jobFields(&Job{})...).Says("A job of the fleet."),
		"notify":            document.Properties(d.notifyFields(&Notify{})...).Says("Notifications."),
		"budget":            document.Properties(new(Budget).fields()...).With("minProperties", 1).Says("Budget before a person is asked."),
		"retry":             document.Properties(new(Retry).fields()...),
		"expire":            document.Properties(new(Expire).fields()...).Says("What happens to decisions without an answer."),
	}

	allowConsts(s)
	for name, def := range s["$defs"].(schema) {
		if name != "const" { // whose values are what others contain
			allowConsts(def)
		}
	}
	return s
}

// allowConsts lets a text with a const stand for what the fields of a table hold: what comes of
// it is not known before it is put in.
func allowConsts(part any) {
	switch part := part.(type) {
	case []schema:
		for _, form := range part {
			allowConsts(form)
		}
	case schema:
		fields, _ := part["properties"].(map[string]schema)
		for name, field := range fields {
			allowConsts(field)
			fields[name] = orConst(field)
		}
		for _, keyword := range []string{"anyOf", "items", "additionalProperties"} {
			allowConsts(part[keyword])
		}
	}
}

// orConst is a schema that takes a text with a const, too, where it would not.
func orConst(s schema) schema {
	kind, _ := s["type"].(string)
	forms, isChoice := s["anyOf"].([]schema)
	text := document.Matching(`\$\{const\.[A-Za-z0-9_][A-Za-z0-9_-]*\}`)
	switch {
	case isChoice && forms[len(forms)-1]["pattern"] == text["pattern"]: // forms are shared
		return s
	case isChoice:
		return s.With("anyOf", append(slices.Clone(forms), text))
	case kind == "object" || kind == "array" || s["$ref"] != nil, kind == "string" && s["pattern"] == nil && s["enum"] == nil:
		return s
	}

	either := document.AnyOf(s, text)
	for _, keyword := range []string{"description", "default"} {
		if value, has := s[keyword]; has {
			either = either.With(keyword, value)
			delete(s, keyword)
		}
	}
	return either
}

// importSchema describes an import: of a file or of a library.
func importSchema(d *decoder) schema {
	one := document.Properties(d.importFields(&importing{})...)
	one["oneOf"] = []schema{{"required": []string{"file"}}, {"required": []string{"library"}}}
	return one
}

// stepSchema describes a step, which does one thing.
func stepSchema(d *decoder) schema {
	var forms []schema
	for _, key := range doings {
		forms = append(forms, schema{"required": []string{key}})
	}
	return document.Properties(d.stepFields(nil, &Step{}, &stepDraft{})...).With("oneOf", forms)
}
