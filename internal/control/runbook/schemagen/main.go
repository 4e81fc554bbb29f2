// Command schemagen writes the JSON Schema of runbooks, for editors that know TOML. It
// runs in internal/control/runbook through go generate; tests fail when its output is not
// committed, or says something else than the decoder.
//
// A schema cannot say all that the decoder checks. It may accept more, never less.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"maps"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

func main() {
	dir := "../../project/schema"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document()); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runbook.json"), buf.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func document() node {
	n := table(keys{
		"command":  named(node{"$ref": "#/$defs/command"}).says("What people start by name: stopgate start NAME."),
		"pipeline": named(node{"$ref": "#/$defs/pipeline"}).says("Steps and what leads from one to the next."),
		"agent":    named(node{"$ref": "#/$defs/agent"}).says("How an agent is started, and what is done when something happens to it."),

		"max_agents": number().says("How many agents of this runbook run at once in the project. Default: no limit."),
	})
	n["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	n["title"] = ".gauntlet/runbooks/NAME.toml"
	n["$defs"] = keys{"command": command(), "pipeline": pipeline(), "step": step(), "agent": agent(), "notify": notify(), "budget": budget(), "expire": expire()}
	return n
}

func command() node {
	return table(keys{
		"description": words().says("What it is for, in a line."),
		"args":        text().says("What it takes: <name> [name] <names...> --flag -f/--flag --option <value> [--option <value>]."),
		"defaults":    values().says("Values of arguments that are not given."),
		"run": anyOf(words().says("A shell command."), table(keys{"pipeline": name()}, "pipeline"), table(keys{"agent": name()}, "agent")).
			says("A shell command, { pipeline = \"NAME\" } or { agent = \"NAME\" }."),
	}, "run")
}

func pipeline() node {
	return table(together(transitions(), keys{
		"vars":     list(name()).with("uniqueItems", true).says("Names that templates use as ${var.NAME}."),
		"defaults": values().says("Values of variables that no argument gives."),
		"cwd":      words().says("Where the steps run. Default: where the command was started."),
		"notify":   node{"$ref": "#/$defs/notify"},
		"budget":   node{"$ref": "#/$defs/budget"},
		"expire":   node{"$ref": "#/$defs/expire"},
		"step":     list(node{"$ref": "#/$defs/step"}).with("minItems", 1).says("The steps. It begins with the first; after that only transitions lead from one to another."),
	}), "step")
}

func step() node {
	return table(together(transitions(), keys{
		"name": name().with("not", node{"enum": []string{"done", "failed", "cancelled"}}).says("The step's name."),
		"run":  anyOf(words().says("A shell command."), table(keys{"agent": name()}, "agent")).says("A shell command, or { agent = \"NAME\" }."),
	}), "name", "run")
}

func transitions() keys {
	to := anyOf(name(), table(keys{"step": name()}, "step"))
	return keys{
		"on_done":   to.says("The step after this one. Where there is none, the pipeline is done."),
		"on_fail":   to.says("The step after a failure. Where there is none, the pipeline has failed."),
		"on_cancel": to.says("The step after a cancel, to clean up."),
	}
}

func agent() node {
	n := table(keys{
		"run":             words().says("The command that starts the agent: claude and its flags, or another program."),
		"prompt":          words().says("What the agent is to do."),
		"prompt_file":     words().says("A file below the runbooks directory that says so."),
		"env":             environment().says("Environment variables."),
		"cwd":             words().says("Where it runs. Default: where the pipeline does."),
		"on_idle":         action(runbook.OnIdle).byDefault(runbook.Escalate).says("What is done when it waits for input."),
		"on_dead":         action(runbook.OnDead).byDefault(runbook.Escalate).says("What is done when it has ended without a signal."),
		"on_prompt":       action(runbook.OnPrompt).byDefault(runbook.Escalate).says("What is done when it asks for a permission, or something else."),
		"on_error":        onError().byDefault(runbook.Escalate).says("What is done about an error of the model's API: an action, or a list of which the first that matches is taken."),
		"on_stop":         onStop().says("What is done when it wants to stop and has not signalled. Default: signal in a pipeline, escalate alone."),
		"attempts":        attempts().says("For every action of the agent that does not say otherwise. Default: 1."),
		"cooldown":        duration().says("For every action of the agent that does not say otherwise."),
		"max_concurrency": number().says("How many of it may run at once in the project. Default: no limit."),
		"notify":          node{"$ref": "#/$defs/notify"},
		"budget":          node{"$ref": "#/$defs/budget"},
		"expire":          node{"$ref": "#/$defs/expire"},
	}, "run")
	n["not"] = node{"required": []string{"prompt", "prompt_file"}}
	return n
}

func environment() node {
	ours := node{"pattern": "^(STOPGATE_|OJ_)"}
	return node{
		"type":                 "object",
		"propertyNames":        node{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": ours},
		"additionalProperties": text(),
	}
}

func notify() node {
	return table(keys{
		"on_start": words().says("When it begins."),
		"on_done":  words().says("When it is done."),
		"on_fail":  words().says("When it has failed; ${error} says why."),
	}).says("What people are told.")
}

// action is a word, or a table for each action with the options that it has.
func action(t runbook.Trigger) node {
	var bare []runbook.ActionKind
	forms := []node{nil}
	for _, kind := range runbook.Actions() {
		if kind.WhyNot(t) != "" {
			continue
		}
		options, required := optionsOf(kind)
		if t == runbook.OnError {
			options["match"] = node{"enum": runbook.ErrorKinds()}.says("The error that it is for. Default: every one.")
		}
		forms = append(forms, table(options, required...))
		if kind != runbook.Gate {
			bare = append(bare, kind)
		}
	}
	forms[0] = node{"enum": bare}
	return anyOf(forms...)
}

func optionsOf(kind runbook.ActionKind) (options keys, required []string) {
	options = keys{"action": {"const": kind}}
	repeated := keys{
		"attempts": attempts().says("How often it is done before a person is asked. Default: 1."),
		"cooldown": duration().says("The least time between two attempts."),
	}
	switch kind {
	case runbook.Nudge:
		options = together(options, repeated, keys{"message": words().says("What is typed.")})
	case runbook.Resume:
		options = together(options, repeated, keys{
			"message": words().says("In place of the prompt or, with append, in the old conversation."),
			"append":  node{"type": "boolean"}.byDefault(false).says("Go on in the old conversation."),
		})
	case runbook.Gate:
		options = together(options, repeated, keys{"run": words().says("A shell command: exit code 0 means done.")})
		return options, []string{"action", "run"}
	}
	return options, []string{"action"}
}

func onError() node {
	one := action(runbook.OnError)
	return anyOf(one, list(one))
}

func onStop() node {
	one := node{"enum": runbook.StopActions()}
	return anyOf(one, table(keys{"action": one}, "action"))
}

func attempts() node {
	return anyOf(number(), node{"const": "forever"})
}

func number() node { return node{"type": "integer", "minimum": 1, "maximum": 1_000_000} }

func budget() node {
	return table(keys{
		"usd":  node{"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000}.says("US dollars, by the prices of the global config."),
		"time": duration().says("Of running; waiting for a person does not count."),
	}).with("minProperties", 1).says("What may be spent before a person is asked.")
}

func expire() node {
	return table(keys{
		"after":  duration().says("How long a decision waits for a person."),
		"answer": node{"enum": runbook.DefaultAnswers()}.says("What holds then."),
	}, "after", "answer").says("What becomes of decisions that nobody answers.")
}

// node is a JSON Schema.
type node map[string]any

func (n node) says(text string) node { return n.with("description", text) }

func (n node) byDefault(value any) node { return n.with("default", value) }

func (n node) with(key string, value any) node {
	out := maps.Clone(n)
	out[key] = value
	return out
}

// keys are the fields of a table.
type keys map[string]node

// table has these fields and no others.
func table(properties keys, required ...string) node {
	n := node{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		n["required"] = required
	}
	return n
}

// named is a table of definitions by their names.
func named(one node) node {
	return node{"type": "object", "propertyNames": name(), "additionalProperties": one}
}

func together(all ...keys) keys {
	out := keys{}
	for _, part := range all {
		maps.Copy(out, part)
	}
	return out
}

func anyOf(forms ...node) node { return node{"anyOf": forms} }

func list(items node) node { return node{"type": "array", "items": items} }

func text() node { return node{"type": "string"} }

// words is text with something other than white space in it, in the sense of
// strings.TrimSpace.
func words() node { return text().with("pattern", `[^\s\v\x85\p{Z}]`) }

func name() node { return text().with("pattern", "^[A-Za-z0-9_][A-Za-z0-9_-]*$").with("maxLength", 64) }

func values() node {
	return node{"type": "object", "propertyNames": name(), "additionalProperties": text()}
}

// duration is what time.ParseDuration reads.
func duration() node {
	return text().with("pattern", `^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)
}
