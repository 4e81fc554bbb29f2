package config

import "github.com/stopgate/stopgate/internal/project/document"

// checkDraft is a check whose fix instructions were not read yet.
type checkDraft struct {
	Check
	fix mention
}

func newCheck(name string) *checkDraft {
	return &checkDraft{Check: Check{Gate: newGate(name)}}
}

// parseCheck reads the content of a check's own file.
func parseCheck(name string, data []byte, to *checkDraft) error {
	return decode(newSource(name, data), func(v value) { readCheck(v, to, fileName(to.Name)) })
}

// readCheck reads a check. The key for its name depends on where it is written.
func readCheck(v value, to *checkDraft, name field) {
	to.Pos = v.Position()
	var failFast value
	v.Mapping(to.fields(name, &failFast)...)
	if to.FailFast && to.Parallel {
		v.Source.Fault(failFast, "fail_fast can only be used when parallel is false", "")
	}
}

func (c *checkDraft) fields(name field, failFast *value) []field {
	return append(c.Gate.fields(),
		name,
		document.Key("command", &c.Command, command(), "Run by a shell. ${BASE_BRANCH} is replaced with the base branch.").Needed(),
		document.Key("working_directory", &c.WorkingDirectory, folder(), "Relative to the project's root. Default: the entry point's path."),
		document.Key("fail_fast", &c.FailFast, document.Flag, "Start no more gates if this one fails. Cannot be combined with parallel.").Default(false).Kept(failFast),
		document.Key("fix_instructions", &c.fix, mentioned(command()), "A file in .gauntlet/ whose text is shown to the agent when the check fails."),
	)
}

func checkSchema(name field) schema {
	yes := schema{"const": true}
	return document.Properties(newCheck("").fields(name, new(value))...).With("not", schema{
		"required":   []string{"fail_fast", "parallel"},
		"properties": map[string]schema{"fail_fast": yes, "parallel": yes},
	}).With("title", ".gauntlet/checks/NAME.yml")
}
