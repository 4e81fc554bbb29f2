package main

func ci() node {
	steps := list(mapping(keys{
		"name":              notBlank(),
		"run":               notBlank().says("Handed to a shell."),
		"working_directory": notBlank().says("Relative to the project's root, which is the default."),
		"if":                text().says("Accepted for the older tool's sake; it has no effect."),
	}, "name", "run"))
	objects := node{"type": []string{"object", "null"}, "additionalProperties": node{"type": []string{"object", "null"}}}
	n := mapping(keys{
		"runtimes": objects.says("Languages and their versions, free-form, under their names."),
		"services": objects.says("Services such as databases, free-form, under their names."),
		"setup":    steps.says("Before every check."),
		"checks": list(mapping(keys{
			"name":              notBlank().says("The check that runs."),
			"requires_runtimes": list(text()).says("Names of runtimes that it needs."),
			"requires_services": list(text()).says("Names of services that it needs."),
			"setup":             steps.says("Before this check."),
		}, "name")).says("The checks that run in CI."),
	})
	n["title"] = ".gauntlet/ci.yml"
	return n
}
