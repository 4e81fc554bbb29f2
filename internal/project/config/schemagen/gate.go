package main

import "github.com/stopgate/stopgate/internal/project/config"

// fileName is the name of a gate with a file of its own; it can only repeat the
// file's.
func fileName() node { return name().says("Only the file's own name, if anything.") }

func inlineName() node { return name().says("The gate's name.") }

func name() node { return text().with("pattern", "^[A-Za-z0-9][A-Za-z0-9._-]*$").with("maxLength", 64) }

func gate(name node, parallel bool) keys {
	return keys{
		"name":        name,
		"parallel":    boolean().byDefault(parallel).says("Run beside other gates."),
		"run_in_ci":   boolean().byDefault(true),
		"run_locally": boolean().byDefault(true),
		"timeout":     seconds().says("For one run of the command, or one call of a reviewer. A duration, or a number of seconds. Default: what the run has; for a reviewer half of what is left of that."),
		"on_error":    oneOf(config.AllowOnError, config.BlockOnError).byDefault(config.AllowOnError).says("What becomes of a gate that could not run."),
		"cache":       boolean().byDefault(true).says("Let a pass stand for the next run on the same content."),
		"reads":       list(oneOf(config.ReadsGit)).says("What a pass depends on besides files. Default: git (HEAD, branch, index, base) where the command or a script of .gauntlet uses it."),
		"inputs":      list(notEmpty()).says("Patterns of the files that a pass depends on, ignored ones included. Default: the whole working tree."),
		"env":         list(text().with("pattern", "^[A-Za-z_][A-Za-z0-9_]*$")).says("Variables that a pass depends on."),
		"tools":       list(notBlank()).says("Commands that print a version that a pass depends on."),
	}
}

func check(name node, required ...string) node {
	n := mapping(together(gate(name, false), keys{
		"command":           notBlank().says("Handed to a shell. ${BASE_BRANCH} is replaced."),
		"working_directory": notBlank().says("Relative to the project's root. Default: the entry point's path."),
		"fail_fast":         boolean().byDefault(false).says("Start no further gate when this one does not pass. Not with parallel."),
		"fix_instructions":  notBlank().says("A file below .gauntlet/ whose text goes with a failure."),
	}), append(required, "command")...)
	n["title"] = ".gauntlet/checks/NAME.yml"
	n["not"] = node{
		"required":   []string{"fail_fast", "parallel"},
		"properties": keys{"fail_fast": {"const": true}, "parallel": {"const": true}},
	}
	return n
}

func review(name node, required ...string) node {
	n := mapping(together(gate(name, true), keys{
		"prompt":         notBlank().says("What the reviewer is to look for. In a .md file it is the text below the front matter."),
		"builtin":        oneOf(config.Builtins()...).says("A prompt of ours, before your own if there is one."),
		"cli_preference": some(oneOf(config.Reviewers()...)).says("Some of cli.default_preference, which is the default."),
		"num_reviews":    integers(1, 10).byDefault(1).says("How many reviewers look at the change."),
		"model":          text().with("pattern", "^[A-Za-z0-9._:/@][A-Za-z0-9._:/@-]*$").says("The model that the reviewer is to use."),
	}), required...)
	n["type"] = "object"
	n["title"] = ".gauntlet/reviews/NAME.yml"
	n["anyOf"] = []node{{"required": []string{"prompt"}}, {"required": []string{"builtin"}}}
	return n
}
