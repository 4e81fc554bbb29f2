package config

// documents of one kind, as an editor and we see them.
type documents struct{ valid, invalid []string }

// agreed says what schema and decoder agree on. A schema cannot say everything;
// what only the decoder knows is under testdata/faults.
var agreed = map[string]documents{
	"project": {
		valid: []string{
			"", "{}", "hooks:\n", designExample,
			"hooks: {SessionEnd: [{run: x, on_failure: report}], Stop: [{run: x, match: '*', on_failure: block}]}",
			"stop_hook:\ndebug_log:\nlogging:\nviolations:\nentry_points:\n",
			"base_branch: -x", "log_dir: logs", "allow_parallel: false", "max_parallel: 1", "max_retries: 0",
			"rerun_new_issue_threshold: critical",
			"cli: {default_preference: [claude, codex, gemini, github-copilot, cursor], check_usage_limit: true}",
			"entry_points: []", "entry_points: [{path: .}]", "entry_points: [{path: ., reviews: []}]", "entry_points: [{path: ., reviews: }]",
			"entry_points: [{path: ., exclude: , checks: }]",
			"entry_points: [{path: src, exclude: [x], checks: [a, {name: b, command: c}]}]",
			"cli: {default_preference: [claude]}\nentry_points: [{path: ., reviews: [a, {name: b, prompt: c}, {name: d, builtin: security}]}]",
			"stop_hook: {enabled: true, run_interval_minutes: 0, verify_fixes: false, runner: [a, ''], deadline: 1.5}",
			"stop_hook: {deadline: 1h30m}", "stop_hook: {deadline: .5s}",
			"debug_log: {enabled: true, max_size_mb: 0.5}",
			"logging: {level: info, console: {enabled: true, format: json}, file: }",
			"violations: {skip_critical: anyone}",
		},
		invalid: []string{
			"[]", "x", "name: x", "hooks: []", "hooks: {Stopp: []}", "hooks: {Stop: {}}", "hooks: {Stop: [{}]}", "hooks: {Stop: [run: ' ']}",
			"hooks: {Stop: [{run: x, timeout: 5}]}", "hooks: {Stop: [{run: x, output_lines: 0}]}",
			"hooks: {SessionEnd: [{run: x, on_failure: block}]}", "hooks: {Stop: [{run: x, match: a}]}",
			"base_branch: ''", "base_branch: 1", "base_branch: ", "log_dir: ''", "allow_parallel: yes", "max_parallel: 0", "max_parallel: 1.5", "max_retries: -1",
			"max_retries: '3'", "rerun_new_issue_threshold: urgent", "cli: ", "cli: {}", "cli: {default_preference: []}", "cli: {default_preference: }",
			"cli: {default_preference: [gpt]}", "cli: {default_preference: claude}",
			"entry_points: {}", "entry_points: [src]", "entry_points: [{}]", "entry_points: [{path: ''}]", "entry_points: [{path: 1}]",
			"entry_points: [{path: ., exclude: ['']}]", "entry_points: [{path: ., checks: ['']}]", "entry_points: [{path: ., checks: [1]}]",
			"entry_points: [{path: ., checks: [{command: x}]}]", "entry_points: [{path: ., checks: [{name: x}]}]",
			"entry_points: [{path: ., checks: [{name: -x, command: x}]}]",
			"entry_points: [{path: ., reviews: [a]}]",
			"cli: {default_preference: [claude]}\nentry_points: [{path: ., reviews: [{name: x}]}]",
			"stop_hook: {run_interval_minutes: -1}", "stop_hook: {run_interval_minutes: 1.5}", "stop_hook: {runner: []}", "stop_hook: {runner: ' '}",
			"stop_hook: {runner: [' ']}", "stop_hook: {runner: [1]}", "stop_hook: {deadline: 0}", "stop_hook: {deadline: 86401}", "stop_hook: {deadline: x}",
			"stop_hook: {deadline: '90'}", "stop_hook: true", "debug_log: {max_size_mb: 0}", "debug_log: {max_size_mb: 10MB}",
			"logging: {level: trace}", "logging: {console: {format: text}}", "violations: {skip_critical: agent}",
		},
	},
	"check": {
		valid: []string{
			"command: x", "{name: lint, command: x}", "{command: x, fail_fast: true}", "{command: x, fail_fast: true, parallel: false}",
			"{command: x, fail_fast: false, parallel: true}", "{command: x, timeout: 240}", "{command: x, timeout: 1m}",
			"{command: x, working_directory: web, run_in_ci: false, run_locally: false, on_error: block, cache: false}",
			"{command: x, inputs: [a/**], env: [A_1], tools: [go version], fix_instructions: a.md}", "{command: x, inputs: , env: , tools: }",
		},
		invalid: []string{
			"", "[]", "{}", "comand: x", "command: ''", "command: 1", "{command: x, fail_fast: true, parallel: true}", "{command: x, timeout: 0}",
			"{command: x, timeout: soon}", "{command: x, on_error: ignore}", "{command: x, cache: 1}", "{command: x, env: [A=B]}",
			"{command: x, env: ['']}", "{command: x, inputs: x}", "{command: x, inputs: ['']}", "{command: x, tools: [' ']}",
			"{command: x, working_directory: ' '}", "{command: x, fix_instructions: }", "{name: '', command: x}", "{command: x, prompt: x}",
		},
	},
	"review": {
		valid: []string{
			"prompt: x", "builtin: code-quality", "{prompt: x, builtin: security}", "{name: style, prompt: x}",
			"{prompt: x, cli_preference: [claude], num_reviews: 10, model: a.b_c:d/e@f-1, parallel: false}", "prompt: |\n  a\n  b\n",
		},
		invalid: []string{
			"", "{}", "num_reviews: 2", "prompt: ''", "prompt: ", "prompt: 1", "builtin: nope", "{prompt: x, cli_preference: []}", "{prompt: x, cli_preference: [gpt]}",
			"{prompt: x, num_reviews: 0}", "{prompt: x, num_reviews: 11}", "{prompt: x, num_reviews: 1.5}", "{prompt: x, model: ''}", "{prompt: x, model: -x}",
			"{prompt: x, model: a b}", "{prompt: x, command: x}", "{prompt: x, fail_fast: true}",
		},
	},
	"global": {
		valid: []string{
			"", "trust: enforce", "trust: off", "notify:\njournal:\nstop_hook:\ndebug_log:\n", "notify: {command: x}",
			"journal: {payloads: true, max_age: 48h, max_size: 64MiB}", "journal: {max_size: 1}", "journal: {max_size: 256 MiB}",
			"stop_hook: {enabled: false, run_interval_minutes: 15}", "debug_log: {enabled: true}",
			"notify: {desktop: true, urls: ['ntfy://ntfy.sh/x', 'generic+https://example.com/a?b=c'], quiet: {from: '22:00', to: '07:30'}}",
			"notify: {quiet: {from: 22:00, to: 00:00}, projects: [{path: ~/a}]}",
			"notify: {urls: , projects: }",
			"notify: {projects: [{path: /a/b, muted: true}, {path: /a, quiet: off, urls: [], command: '', desktop: false}, {path: '~', quiet: {from: '01:00', to: '02:00'}, command: x}]}",
			"lifecycle:\nprices:\n", "lifecycle: {when_daemon_down: block, max_agents: 4}", "lifecycle: {when_daemon_down: allow}",
			"prices: [{model: 'claude-*', input: 5, output: 25.5, cache_read: 0.5, cache_write: 6}, {model: local, input: 0, output: 0}]",
		},
		invalid: []string{
			"[]", "trust: on", "trust: true", "notify: {command: ''}", "journal: {max_age: 30}", "journal: {max_age: 30d}", "journal: {max_size: 0}",
			"journal: {max_size: 64MB}", "stop_hook: {enabled: 1}", "debug_log: {enabled: 1}", "hooks:", "base_branch: x",
			"notify: {desktop: yes}", "notify: {urls: x}", "notify: {urls: [x]}", "notify: {urls: ['ntfy://']}", "notify: {urls: ['a b://c']}", "notify: {urls: ['ntfy://a b']}",
			"notify: {urls: ['://x']}", "notify: {quiet: off}", "notify: {quiet: }", "notify: {quiet: {from: '22:00'}}", "notify: {quiet: {from: '22:00', to: '24:00'}}",
			"notify: {quiet: {from: '7:00', to: '08:00'}}", "notify: {quiet: {from: 7, to: '08:00'}}", "notify: {muted: true}", "notify: {path: /a}", "notify: {projects: [{}]}",
			"notify: {projects: [{path: ''}]}", "notify: {projects: [{path: /a, command: ' '}]}", "notify: {projects: [{path: /a, quiet: on}]}", "notify: {projects: [{path: /a, projects: []}]}",
			"lifecycle: {when_daemon_down: off}", "lifecycle: {max_agents: 0}", "lifecycle: {max_agents: 1.5}", "lifecycle: {max_agents: 10001}",
			"prices: {}", "prices: [{}]", "prices: [{model: x, input: 1}]", "prices: [{model: '', input: 1, output: 1}]", "prices: [{model: x, input: -1, output: 1}]",
			"prices: [{model: x, input: '1', output: 1}]", "prices: [{model: x, input: 1, output: 1000001}]",
		},
	},
	"ci": {
		valid: []string{
			"", "runtimes:\nservices:\nsetup:\nchecks:\n", "runtimes: {node: {version: 20}, go: }", "services: {db: {ports: [1, a]}}",
			"setup: [{name: a, run: b, working_directory: c, if: d}]",
			"runtimes: {node: }\nchecks: [{name: a, requires_runtimes: [node], requires_services: [], setup: [{name: a, run: b}]}]",
		},
		invalid: []string{
			"[]", "runtimes: []", "runtimes: {node: 20}", "setup: {}", "setup: [{}]", "setup: [{name: a}]", "setup: [{run: a}]", "setup: [{name: '', run: a}]",
			"setup: [{name: a, run: b, if: true}]", "checks: [{}]", "checks: [a]", "checks: [{name: a, requires_runtimes: node}]", "jobs: []",
		},
	},
}
