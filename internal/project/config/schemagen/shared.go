package main

import "github.com/stopgate/stopgate/internal/project/config"

func stopHook() node {
	return mapping(keys{
		"enabled":              boolean().says("Whether gates run when the agent stops. Default: true."),
		"run_interval_minutes": integer(0).says("No new run before this many minutes, unless something is red. Default: 10."),
		"verify_fixes":         boolean().says("Check again after a block instead of letting the agent go. Default: false."),
		"runner":               runner().says("An external gauntlet to run instead of the gates: a program and its arguments."),
		"deadline":             seconds().says("How long a run may take in all. Default: what the installed hook's timeout leaves, which this can only shorten."),
	}).says("When gates run. The environment comes first, then the project, then the global config.")
}

func runner() node {
	n := some(text())
	n["prefixItems"] = []node{notBlank()}
	return n
}

func debugLog() node {
	return mapping(keys{
		"enabled":     boolean().says("Default: false."),
		"max_size_mb": node{"type": "number", "exclusiveMinimum": 0, "maximum": 1 << 20}.says("Where the log starts anew. Default: 10."),
	}).says("A log of runs for people who look for a fault. A project without this section has the global config's.")
}

func global() node {
	n := mapping(keys{
		"trust":      oneOf("off", string(config.TrustEnforce)).byDefault("off").says("enforce: only what you approved runs."),
		"mode":       mode().says("Observe judges and records everything in every project, and blocks nothing."),
		"quiet":      boolean().byDefault(false).says("Do not tell you of gates that passed."),
		"notify":     notify(),
		"journal":    journal(),
		"stop_hook":  stopHook(),
		"debug_log":  debugLog(),
		"supervisor": supervisor(),
		"terminal":   terminal(),
		"lifecycle":  lifecycle(),
		"prices":     list(price()).says("What models cost. The first whose pattern matches counts, before the prices that are built in."),
	})
	n["title"] = "~/.config/agent-gauntlet/config.yml"
	return n
}

func supervisor() node {
	return mapping(keys{
		"max_iterations":  integers(1, config.MostIterations).says("Reviews in a row before the agent is let go. Default: 10."),
		"timeout_seconds": integers(1, int(config.LongestReview.Seconds())).says("The longest a review may take. Default: 600."),
		"prompt_file":     notBlank().says("Instructions for the reviewer, in place of SUPERVISOR.md. Relative to the directory of ccc.json."),
		"max_cost_usd":    node{"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000}.says("What the reviews of one session may cost; then there are no more. Default: no limit."),
	}).says("Reviews of an agent's work by a second client. What ccc.json says comes first.")
}

func terminal() node {
	return mapping(keys{
		"prompt": notBlank().says("A regular expression for the line of the input box. A group in it is the text in the box."),
		"dialog": notBlank().says("A regular expression for something in an open dialog."),
	}).says("How the client's screen is read before something is typed into it.")
}

func journal() node {
	return mapping(keys{
		"payloads": boolean().byDefault(false).says("Keep what the client sent, prompts and tool input included."),
		"max_age":  duration().byDefault("720h").says("How long records are kept."),
		"max_size": size().byDefault("256MiB").says("How much of them is kept."),
	}).says("What the journal holds.")
}

func notify() node {
	return mapping(together(ways(), keys{
		"command":  notBlank().says("Run with the message as its argument."),
		"quiet":    quiet(),
		"projects": list(projectNotify()).says("What is different for projects. The first whose path is the project or above it counts."),
	})).says("How you are told.")
}

func projectNotify() node {
	return mapping(together(ways(), keys{
		"path":    notBlank().says("The project's root, or a directory above it: absolute, or beginning with ~/."),
		"command": node{"anyOf": []node{{"const": ""}, notBlank()}}.says("Run with the message as its argument; empty for none."),
		"quiet":   node{"anyOf": []node{{"const": "off"}, quiet()}},
		"muted":   boolean().byDefault(false).says("Nothing is sent at all."),
	}), "path")
}

func ways() keys {
	return keys{
		"desktop": boolean().says("A notification on the desktop. Default: false."),
		"urls":    list(text().with("pattern", `^[A-Za-z][A-Za-z0-9+.\-]*://\S+$`)).says("Services, as shoutrrr writes them. They hold tokens: keep the file to yourself."),
	}
}

func quiet() node {
	return mapping(keys{"from": timeOfDay(), "to": timeOfDay()}, "from", "to").says("Hours, in local time, in which nothing is sent; it is sent afterwards, where it still matters.")
}

func timeOfDay() node { return text().with("pattern", "^([01][0-9]|2[0-3]):[0-5][0-9]$") }

func lifecycle() node {
	return mapping(keys{
		"when_daemon_down": oneOf(config.AllowWhenDown, config.BlockWhenDown).byDefault(config.AllowWhenDown).says("Whether an agent may stop when the daemon cannot be asked."),
		"max_agents":       integers(1, config.MostAgents).says("How many agents run at once on this machine. Default: no limit."),
	}).says("Agents that the daemon runs.")
}

func price() node {
	amount := node{"type": "number", "minimum": 0, "maximum": 1_000_000}
	return mapping(keys{
		"model":       notEmpty().says("A pattern for names of models, such as claude-opus-*."),
		"input":       amount.says("US dollars for a million tokens."),
		"output":      amount,
		"cache_read":  amount.says("Default: a tenth of input."),
		"cache_write": amount.says("Default: 1.25 times input, or twice for what is kept for an hour."),
	}, "model", "input", "output")
}
