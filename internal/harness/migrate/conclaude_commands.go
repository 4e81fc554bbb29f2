package migrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// conclaudeCommand is an entry of a list of commands. Conclaude runs each line of it by a shell of its own.
type conclaudeCommand struct {
	at      document.Value
	setting string // as in stop.commands[0]
	lines   []string
	message string
	timeout time.Duration
	output  int
	keys    []document.Value
}

// commands reads a list of commands. What is of the wrong type is a fault, as it is to conclaude.
func (m *fromConclaude) commands(v document.Value, setting string) (all []conclaudeCommand) {
	items, _ := v.List("")
	for i, item := range items {
		c := conclaudeCommand{at: item, setting: fmt.Sprintf("%s[%d]", setting, i)}
		c.keys, _ = item.Entries()
		hasFault := false
		for _, k := range c.keys {
			switch k.Name {
			case "run":
				c.lines = commandLines(textOf(k))
				hasFault = !isText(k)
			case "message":
				c.message = textOf(k)
			case "timeout":
				c.timeout = time.Duration(numberOf(k)) * time.Second
			case "maxOutputLines":
				c.output = numberOf(k)
			}
		}

		if len(c.lines) == 0 || strings.ContainsRune(strings.Join(c.lines, ""), 0) {
			if !hasFault {
				m.left(item, c.setting, "it runs nothing")
			}
			continue
		}
		all = append(all, c)
	}
	return all
}

// commandLines are the lines that conclaude runs: neither blank nor comments.
func commandLines(run string) (lines []string) {
	for line := range strings.Lines(run) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// textOf is a text; anything else is a fault, except for what may be left out. A null counts as nothing.
func textOf(v document.Value) string {
	switch {
	case v.Node.Kind() == document.Null:
		return ""
	case isText(v):
		return v.Node.Text()
	}
	v.WrongType("text", "")
	return ""
}

func isText(v document.Value) bool {
	return slices.Contains([]document.Kind{document.Text, document.Block, document.Null}, v.Node.Kind())
}

func numberOf(v document.Value) int {
	if v.Node.Kind() == document.Null || !v.Is(document.Integer, "a whole number", "") {
		return 0
	}
	n, err := strconv.Atoi(v.Node.Text())
	if err != nil || n < 1 || n > 10_000 {
		v.Fault("must be from 1 to 10000", "")
		return 0
	}
	return n
}

func isOn(v document.Value) bool {
	return v.Node.Kind() != document.Null && v.Is(document.Boolean, "true or false", "") && v.Node.Text() == "true"
}

// stop reads the commands for Stop, which become checks.
func (m *fromConclaude) stop(s document.Value) {
	keys, _ := s.Entries()
	for _, k := range keys {
		setting := "stop." + k.Name
		switch k.Name {
		case "commands":
			m.stopCommands(k, setting, m.commands(k, setting))
		case "run": // of early versions
			if lines := commandLines(textOf(k)); len(lines) > 0 {
				m.stopCommands(k, setting, []conclaudeCommand{{at: k, setting: setting, lines: lines}})
			}
		case "infinite":
			if isOn(k) {
				m.left(k, setting, "stopgate never blocks a stop without a failed gate; to give an agent one task after the other, see stopgate queue")
			}
		case "infiniteMessage", "rounds":
			if k.Node.Kind() != document.Null {
				m.left(k, setting, "it belongs to stop.infinite")
			}
		default:
			m.left(k, setting, "stopgate knows no such key")
		}
	}
}

// stopCommands makes checks of the commands for Stop. One that asks about the session becomes a hook: a check
// is about files, and knows of no session.
func (m *fromConclaude) stopCommands(k document.Value, setting string, all []conclaudeCommand) {
	ofSession := func(c conclaudeCommand) bool { return len(variablesIn(c)) > 0 }
	if slices.ContainsFunc(all, func(c conclaudeCommand) bool { return !ofSession(c) }) {
		m.into(k, setting, "checks of the entry point .", "checks run when files have changed, and not again for files with which they passed; after a failure the others still run; CONCLAUDE_ variables are not set for them")
	}
	for _, c := range all {
		if ofSession(c) {
			m.hook(c, hook.Stop, "*")
		} else {
			m.check(c)
		}
	}
}

// conclaudeVariable is one that conclaude sets for a command.
var conclaudeVariable = lazyregexp.New(`\bCONCLAUDE_[A-Z_]*[A-Z]`)

// variablesIn are conclaude's variables that a command names, each once. The one for the directory of the
// configuration is not among them: it is replaced.
func variablesIn(c conclaudeCommand) (names []string) {
	for _, name := range conclaudeVariable.Get().FindAllString(strings.Join(c.lines, "\n"), -1) {
		if name != configDir && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// setFor reports whether a variable is set for commands of an event, see docs/dev/format.md.
func setFor(name string, event hook.Event) bool {
	switch name {
	case "CONCLAUDE_SESSION_ID", "CONCLAUDE_TRANSCRIPT_PATH", "CONCLAUDE_HOOK_EVENT", "CONCLAUDE_CWD":
		return true
	case "CONCLAUDE_AGENT_ID", "CONCLAUDE_AGENT_TYPE":
		return event != hook.Stop
	case "CONCLAUDE_AGENT_TRANSCRIPT_PATH":
		return event == hook.SubagentStop
	}
	return false
}

// check makes a check of a stop command.
func (m *fromConclaude) check(c conclaudeCommand) {
	check := &config.NewCheck{Name: nameFor(c.lines[0]), Command: inShell(c.lines), Timeout: c.timeout * time.Duration(len(c.lines)), Fixes: c.message != ""}
	m.add.Checks = append(m.add.Checks, check)
	into := func(v document.Value, setting, to, differs string) {
		m.into(v, setting, to, differs)
		m.checks[len(m.plan.Items)-1] = check
	}

	into(c.at, c.setting+": "+c.lines[0], "check "+checkName, configDirDiffers(c))
	for _, k := range c.keys {
		setting := c.setting + "." + k.Name
		switch k.Name {
		case "run":
		case "message":
			if c.message != "" {
				into(k, setting, "fix_instructions: fix/"+checkName+".md", "")
				m.fixes[check] = fix{c.message, len(m.plan.Items) - 1}
			}
		case "timeout":
			differs := ""
			if len(c.lines) > 1 {
				differs = "it is for all lines together"
			}
			into(k, setting, "timeout: "+strconv.Itoa(int(check.Timeout.Seconds())), differs)
		default:
			m.otherKey(k, setting)
		}
	}
}

// hooks makes commands under hooks of those for an event.
func (m *fromConclaude) hooks(v document.Value, event hook.Event, setting, pattern string) {
	match, ok := onePattern(pattern)
	if !ok || strings.TrimSpace(pattern) == "" {
		m.left(v, setting, "the pattern is not valid, or cannot be carried over: write it under hooks yourself")
		return
	}
	for _, c := range m.commands(v, setting) {
		if !event.HasSubject() && pattern != "*" {
			m.left(c.at, c.setting+": "+c.lines[0], string(event)+" has nothing that a pattern could select")
			continue
		}
		m.hook(c, event, match)
	}
}

// hook makes a command under hooks of one for an event.
func (m *fromConclaude) hook(c conclaudeCommand, event hook.Event, match string) {
	failure := config.Report
	if event == hook.Stop {
		failure = config.Block
	}
	for _, line := range c.lines {
		m.add.Hooks = append(m.add.Hooks, config.Command{
			Event: event, Match: match, Run: inShell([]string{line}), Timeout: timeoutFor(event, c.timeout),
			OnFailure: failure, Message: c.message, OutputLines: c.output,
		})
	}
	m.into(c.at, c.setting+": "+c.lines[0], "hooks: "+string(event)+": run", hookDiffers(c, event))
	for _, k := range c.keys {
		switch setting := c.setting + "." + k.Name; k.Name {
		case "run":
		case "message", "timeout":
			m.into(k, setting, "hooks: "+string(event)+": "+k.Name, "")
		case "maxOutputLines":
			m.into(k, setting, "hooks: "+string(event)+": output_lines", "the last lines are shown, not the first")
		default:
			m.otherKey(k, setting)
		}
	}
}

// hookDiffers is in what a command of an event is not what it was.
func hookDiffers(c conclaudeCommand, event hook.Event) string {
	var all []string
	switch event {
	case hook.Stop:
		all = append(all, "it is a hook and not a check, because it names "+strings.Join(variablesIn(c), ", ")+": it runs at every stop, also when no file has changed")
	case hook.SubagentStop, hook.SubagentStart:
		all = append(all, "the pattern selects the agent by its type (coder) or its id; conclaude compares the id alone, which is never a name")
	default:
		all = append(all, "a failure is reported, whatever the exit code; on_failure: block has it block")
	}
	for _, name := range variablesIn(c) {
		if !setFor(name, event) {
			all = append(all, name+" is not set: the payload is on standard input")
		}
	}
	if event != hook.SubagentStop && event != hook.Stop && c.timeout == 0 {
		all = append(all, "without a timeout it has 60 seconds")
	}
	return joined(append(all, configDirDiffers(c))...)
}

// configDirDiffers is what is to be said of a command that names conclaude's variable for the directory of
// its configuration.
func configDirDiffers(c conclaudeCommand) string {
	if !strings.Contains(strings.Join(c.lines, "\n"), configDir) {
		return ""
	}
	return "$" + configDir + " becomes . because commands run in the project's root"
}

// configDir is a variable that means .gauntlet here, and is not set for checks.
const configDir = "CONCLAUDE_CONFIG_DIR"

// timeoutFor is how long a command may take. At the end of an agent one that has no timeout gets as long
// as Claude Code waits for a hook.
func timeoutFor(event hook.Event, timeout time.Duration) time.Duration {
	if timeout == 0 && (event == hook.SubagentStop || event == hook.Stop) {
		return 10 * time.Minute
	}
	return timeout
}

// otherKey tells of a key of a command that is about what is shown.
func (m *fromConclaude) otherKey(k document.Value, setting string) {
	switch k.Name {
	case "showStdout", "showStderr", "showCommand", "maxOutputLines":
		m.plan.Add(Item{Where: where(k), Setting: setting, Fate: Differs, Why: "the command and the end of its output are always shown after a failure, and never after a success"})
	case "notifyPerCommand":
		m.left(k, setting, "stopgate tells you only what needs you")
	default:
		m.left(k, setting, "stopgate knows no such key")
	}
}

var notInNames = lazyregexp.New(`[^A-Za-z0-9._]+`)

// nameFor is a name for a check of a command: its first words.
func nameFor(command string) string {
	const longest = 40
	name := strings.Trim(notInNames.Get().ReplaceAllString(command, "-"), "-._")
	if len(name) > longest {
		name = strings.TrimRight(name[:longest], "-._")
	}
	if name == "" {
		return "stop-command"
	}
	return name
}

// inShell is a command for sh that does what conclaude does: each line in a bash of its own, up to the
// first that fails. Where sh and bash agree about a single line, that line is enough.
func inShell(lines []string) string {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i] = strings.NewReplacer("${"+configDir+"}", ".", "$"+configDir, ".").Replace(lines[i])
	}
	if len(lines) == 1 && isPlainShell(lines[0]) {
		return lines[0]
	}
	calls := make([]string, len(lines))
	for i, line := range lines {
		calls[i] = settings.ShellCommand("bash", "-c", line)
	}
	return strings.Join(calls, " &&\n")
}

var (
	plainShell = lazyregexp.New(`^[A-Za-z0-9_./:=@%+,'"|; $-]*$`)
	// onlyBash are commands that sh does not have, or has otherwise.
	onlyBash = lazyregexp.New(`(^|[;|] *)(source|function|time|declare|local|typeset|pushd|popd|shopt|let|set|echo|select|mapfile|readarray) |\$'`)
)

// isPlainShell reports whether every shell reads a line in the same way.
func isPlainShell(line string) bool {
	line = strings.ReplaceAll(line, "&&", ";")
	return plainShell.Get().MatchString(line) && !onlyBash.Get().MatchString(line)
}
