package runbook

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/stopgate/stopgate/internal/sys/commandline"
)

// claudeCode looks at the run of an agent: one that starts Claude Code gets a terminal, and
// flags of ours behind what is written.
func (d *decoder) claudeCode(at span, a *agentDraft) {
	run := strings.TrimSpace(a.Run)
	args, ok := claudeArgs(run)
	switch {
	case ok:
		a.Run, a.ClaudeCode, a.args = run, true, args
		for _, w := range args {
			d.claudeFlag(at, w)
		}
	case startsClaude(run):
		d.fault(d.inside(at, "claude"), "an agent that runs Claude Code must be one simple command: claude and its flags",
			"use cwd and env instead of cd and export, and separate steps for commands before or after it")
	case strings.Contains(run, "--session-id"):
		d.fault(d.inside(at, "--session-id"), "run must not contain --session-id: stopgate sets it to the agent's id", "")
	}
}

// claudeFlag looks at one word of the command line of Claude Code.
func (d *decoder) claudeFlag(run span, w word) {
	flag, _, _ := strings.Cut(w.text, "=")
	short := ""
	if strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") {
		short = strings.TrimLeft(flag, "-p") // -pc is -p and -c
	}
	at := d.inside(run, w.raw)
	switch {
	case flag == "--":
		d.fault(run, "run must not contain --: stopgate adds flags after it", "write the prompt as prompt = \"…\"")
	case flag == "--session-id":
		d.fault(at, "run must not contain --session-id: stopgate sets it to the agent's id", "")
	case flag == "--settings":
		d.fault(at, "run must not contain --settings: stopgate passes its own settings file with the hooks", "use the project's settings, which apply too: .claude/settings.json")
	case slices.Contains([]string{"--resume", "--continue", "--fork-session"}, flag), strings.HasPrefix(short, "c"), strings.HasPrefix(short, "r"):
		d.fault(at, "run must not contain "+quote(flag)+": stopgate chooses the conversation", `on_dead = "resume" continues the old one`)
	case flag == "--print" || strings.HasPrefix(flag, "-p"):
		d.warn(at, "with "+quote(flag)+" Claude Code takes no input: nudge and stopgate agent attach do not work", "remove it: an agent may run as long as it needs")
	}
}

// secondPrompt finds a word that Claude Code would take for a prompt, beside that of the
// agent. Where it may be the value of a flag it is left alone.
func (d *decoder) secondPrompt(agent *node, a *agentDraft) {
	run := agent.get("run")
	if !a.ClaudeCode || a.Prompt == "" || run == nil {
		return
	}
	switches := []string{"--dangerously-skip-permissions", "--verbose"}
	for i, w := range a.args {
		after := i == 0 || slices.Contains(switches, a.args[i-1].text)
		if after && !w.open && w.text != "" && !strings.HasPrefix(w.text, "-") {
			d.fault(d.inside(run.node.at, w.raw), quote(w.text)+" would be a second prompt",
				"put it into prompt, or use \"${prompt}\" in run")
		}
	}
}

// Exec is the run of a client with exec before its program, behind the assignments: then
// Claude Code takes the place of the shell.
func Exec(run string) string {
	words, _ := simpleCommand(run)
	for _, w := range words {
		if !w.assigns() {
			return run[:w.at] + "exec " + run[w.at:]
		}
	}
	return run
}

// Assignment is a variable that a run sets for its program.
type Assignment struct {
	Name, Value string
	Open        bool // the shell expands the value
}

// Launch is what a client's run sets for its program, that program, and whether it is our
// launcher. The program is empty where only the shell can tell which it is.
func Launch(run string) (set []Assignment, program string, launcher bool) {
	words, _ := simpleCommand(strings.TrimSpace(run))
	for _, w := range words {
		if !w.assigns() {
			elsewhere := slices.ContainsFunc(set, func(a Assignment) bool { return a.Name == "PATH" })
			if !elsewhere && !w.expands() {
				program = w.text
			}
			return set, program, w.program() == "ccc" || w.program() == "stopgate"
		}
		name, value, _ := strings.Cut(w.text, "=")
		home := strings.HasPrefix(w.raw, name+"=~/") // and not in quotes
		set = append(set, Assignment{name, value, w.open || home})
	}
	return set, "", false
}

// claudeArgs are the words that Claude Code gets, where a script is a simple command that
// starts one: claude, or our launcher of it.
func claudeArgs(script string) ([]word, bool) {
	words, ok := simpleCommand(script)
	for len(words) > 0 && words[0].assigns() {
		words = words[1:]
	}
	if !ok || len(words) == 0 {
		return nil, false
	}
	switch args := words[1:]; words[0].program() {
	case "claude":
		return args, true
	case "ccc":
		// These are commands of its own.
		if len(args) > 0 && slices.Contains([]string{"provider", "supervisor", "supervisor-hook"}, args[0].text) {
			return nil, false
		}
		return afterProvider(args), true
	case "stopgate":
		if len(args) > 0 && args[0].text == "claude" {
			return afterProvider(args[1:]), true
		}
	}
	return nil, false
}

// afterProvider leaves out the provider that the launcher takes, or "--" in its place.
func afterProvider(args []word) []word {
	if len(args) > 0 && (args[0].text == "--" || !strings.HasPrefix(args[0].text, "-")) {
		return args[1:]
	}
	return args
}

// startsClaude reports whether one of the commands of a script is claude. One that may get a here-document has always
// been left alone.
func startsClaude(script string) (starts bool) {
	if strings.Contains(script, "<<") {
		return false
	}
	file, err := parseScript(script)
	if err != nil { // of a script that no shell could read, what looks like a command counts
		commands, _ := commandline.Read(script)
		return slices.ContainsFunc(commands, func(c *commandline.Command) bool { return isClaude(c.Words) })
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, is := node.(*syntax.CallExpr); is {
			var words []string
			for _, arg := range call.Args {
				w, ok := wordAt(script, arg, arg.Parts)
				if !ok {
					w.text = w.raw
				}
				words = append(words, w.text)
			}
			starts = starts || isClaude(words)
		}
		return true
	})
	return starts
}

// isClaude reports whether the words of a command are claude and what it is given, perhaps behind what starts it.
func isClaude(words []string) bool {
	for _, text := range words {
		if !commandline.Assigns(text) && !slices.Contains([]string{"exec", "env", "command", "nohup", "nice"}, text) {
			return word{text: text}.program() == "claude"
		}
	}
	return false
}
