package config

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
	return decode(name, data, func(v value) { readCheck(v, to, fileName(to.Name)) })
}

// readCheck reads a check. The key for its name depends on where it is written.
func readCheck(v value, to *checkDraft, name field) {
	to.Pos = v.position()
	var failFast value
	v.mapping(append(to.fields(),
		name,
		field{key: "command", required: true, read: into(&to.Command, value.command)},
		field{key: "working_directory", read: into(&to.WorkingDirectory, value.folder)},
		field{key: "fail_fast", read: func(v value) {
			failFast = v
			v.boolean(&to.FailFast)
		}},
		field{key: "fix_instructions", read: func(v value) {
			var file string
			if v.command(&file) {
				to.fix = v.mention(file)
			}
		}},
	)...)
	if to.FailFast && to.Parallel {
		v.d.fault(failFast.span(), "fail_fast can only be used when parallel is false", "")
	}
}
