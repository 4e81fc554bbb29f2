package main

import (
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
)

func project() node {
	n := mapping(keys{
		"hooks":                     hooks(),
		"mode":                      mode().says("Observe judges and records everything, and blocks nothing."),
		"quiet":                     boolean().byDefault(false).says("Do not tell a person of gates that passed."),
		"entry_points":              list(entryPoint()).says("Which gates look at a change below which path."),
		"protect":                   list(notEmpty().with("pattern", "^[^!]")).says("Files that an agent may not change without a person: paths and patterns below the project's root."),
		"protect_new":               boolean().byDefault(false).says("New files that a pattern of protect names count as well."),
		"protect_mode":              oneOf(config.ProtectAsk, config.ProtectBlock).byDefault(config.ProtectAsk).says("Ask allows the stop, tells a person, and makes a decision of an agent's complete in a pipeline. Block holds the agent back once for each content, then a person is needed."),
		"cli":                       cli(),
		"base_branch":               notBlank().says("What changes are counted from. Default: the remote's default branch, else origin/main."),
		"log_dir":                   notBlank().byDefault("gauntlet_logs").says("The folder for logs, relative to the project's root."),
		"allow_parallel":            boolean().byDefault(true).says("Run gates side by side, those that allow it."),
		"max_parallel":              integer(1).says("How many gates run at once. Default: one more than there are cores."),
		"max_retries":               integer(0).byDefault(3).says("How many failing runs block the agent before a person is asked."),
		"rerun_new_issue_threshold": oneOf(config.Critical, config.High, config.Medium, config.Low).byDefault(config.High).says("The least priority at which a review that verifies fixes may raise something new."),
		"debug_log":                 debugLog(),
		"stop_hook":                 stopHook(),
		"logging":                   logging(),
		"violations": mapping(keys{
			"skip_critical": oneOf(config.SkipByPerson, config.SkipByAnyone).byDefault(config.SkipByPerson).says("Who may skip a critical violation."),
		}).says("What may be done about violations."),
	})
	n["title"] = ".gauntlet/config.yml"
	n["$defs"] = keys{
		"check":  check(inlineName(), "name"),
		"review": review(inlineName(), "name"),
		"hook":   command(),
	}
	// Reviews need somebody to do them.
	reviewed := node{"type": "object", "required": []string{"reviews"}, "properties": keys{"reviews": {"type": "array", "minItems": 1}}}
	n["if"] = node{
		"required":   []string{"entry_points"},
		"properties": keys{"entry_points": {"type": "array", "contains": reviewed}},
	}
	n["then"] = node{"required": []string{"cli"}}
	return n
}

func mode() node { return oneOf(config.Enforce, config.Observe).byDefault(config.Enforce) }

func hooks() node {
	events := keys{}
	for _, event := range hook.Events() {
		limits := keys{}
		if !event.Blockable() {
			limits["on_failure"] = node{"const": config.Report}
		}
		if !event.HasSubject() {
			limits["match"] = node{"const": "*"}
		}
		item := node{"$ref": "#/$defs/hook"}
		if len(limits) > 0 {
			item["properties"] = limits
		}
		events[string(event)] = list(item)
	}
	return mapping(events).says("Commands for the client's events.")
}

func command() node {
	return mapping(keys{
		"match":        notEmpty().byDefault("*").says("A pattern for what the event is about, such as the agent."),
		"run":          notBlank().says("Handed to a shell."),
		"timeout":      duration().byDefault("1m").says("At most 1h. Then the command and its children are killed."),
		"on_failure":   oneOf(config.Report, config.Block).says("Default: block for Stop, report for other events."),
		"message":      text().says("For the agent, before the output of the command."),
		"output_lines": integers(1, 10_000).byDefault(40).says("How much of the output is passed on, from its end."),
	}, "run")
}

func cli() node {
	return mapping(keys{
		"default_preference": some(oneOf(config.Reviewers()...)).says("The programs that review, the preferred one first."),
		"check_usage_limit":  boolean().byDefault(false).says("Let health ask each of them for a word."),
	}, "default_preference").says("Who reviews. Required when there is a review.")
}

func entryPoint() node {
	return mapping(keys{
		"path":    notEmpty().says("A file or folder below the project's root, \".\" for all of it, parent/* for each folder in parent, or a pattern."),
		"exclude": list(notEmpty()).says("Paths and patterns that do not count."),
		"checks":  list(node{"anyOf": []node{notBlank(), {"$ref": "#/$defs/check"}}}).says("Names of files in checks/, or checks themselves."),
		"reviews": list(node{"anyOf": []node{notBlank(), {"$ref": "#/$defs/review"}}}).says("Names of files in reviews/ or of built-in reviews, or reviews themselves."),
	}, "path")
}

func logging() node {
	sink := func(formats ...string) node {
		return mapping(keys{"enabled": boolean(), "format": oneOf(formats...)})
	}
	return mapping(keys{
		"level":   oneOf("debug", "info", "warning", "error"),
		"console": sink("pretty", "json"),
		"file":    sink("text", "json"),
	}).says("Accepted for the older tool's sake; it has no effect.")
}
