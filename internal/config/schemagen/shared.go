package main

import "github.com/stopgate/stopgate/internal/config"

func stopHook() node {
	return mapping(keys{
		"enabled":              boolean().says("Whether gates run when the agent stops. Default: true."),
		"run_interval_minutes": integer(0).says("No new run before this many minutes, unless something is red. Default: 10."),
		"verify_fixes":         boolean().says("Check again after a block instead of letting the agent go. Default: false."),
		"runner":               runner().says("An external gauntlet to run instead of the gates: a program and its arguments."),
		"deadline":             seconds().says("How long a run may take in all. Default: 270s."),
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
		"notify":     mapping(keys{"command": notBlank().says("Run with the message as its argument.")}).says("How you are told."),
		"journal":    journal(),
		"stop_hook":  stopHook(),
		"debug_log":  debugLog(),
		"supervisor": supervisor(),
		"terminal":   terminal(),
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
