package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// KeepPlugins lists the plugins of Claude Code that are the tool's: those with its name in theirs, and those whose
// hooks call it. Claude Code's own command disables them.
func (p *Plan) KeepPlugins(d *Draft, t tool) {
	for _, plugin := range settings.EnabledPlugins(d.Root) {
		name, _, _ := strings.Cut(plugin.ID, "@")
		calls := slices.ContainsFunc(plugin.Hooks, func(e settings.Entry) bool { return t.share(e) != settings.NotTheirs })
		if !calls && !strings.Contains("-"+strings.ToLower(name)+"-", "-"+t.name+"-") {
			continue
		}
		why := "Claude Code calls its hooks, and " + t.both + ": disable it here with claude plugin disable " + settings.ShellCommand(plugin.ID) + " --scope local"
		if plugin.By.Scope == settings.User {
			why += ", or for all your projects without --scope"
		}
		p.Add(Item{Where: d.At(plugin.By.Path, d.lineWith(plugin.By.Path, plugin.ID)), Setting: "plugin " + plain.Name(plugin.ID), Fate: Left, Why: why})
		p.Find(d.Shown(plugin.By.Path))
	}
}

// lineWith is the first line of a file on disk that has a text in it.
func (d *Draft) lineWith(path, text string) int {
	f, err := d.open(path)
	if err != nil {
		return 1
	}
	before, _, found := strings.Cut(string(f.before), text)
	if !found {
		return 1
	}
	return strings.Count(before, "\n") + 1
}

// KeepFrontMatter lists the agents, commands and skills of the project whose own hooks call the tool: newer
// versions of conclaude write them there.
func (p *Plan) KeepFrontMatter(d *Draft, t tool) error {
	for _, pattern := range []string{"agents/*.md", "agents/*/*.md", "commands/*.md", "commands/*/*.md", "skills/*/SKILL.md"} {
		for _, path := range glob(d.InRoot(".claude"), pattern) {
			text, err := d.Read(path)
			if err := d.note(err); err != nil {
				return err
			}
			line, calls := t.inFrontMatter(string(text))
			if calls == 0 {
				continue
			}
			p.Add(Item{
				Where: d.At(path, line), Setting: plain.Count(calls, "hook") + " in the front matter", Fate: Left,
				Why: fmt.Sprintf("remove what calls %s from this file, or %s", t.name, t.both),
			})
			p.Find(d.Shown(path))
		}
	}
	return nil
}

// inFrontMatter counts the hooks in the front matter of a text that call the tool, and gives the line of the first.
func (t tool) inFrontMatter(text string) (first, calls int) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case number == 1 && line != "---", number > 1 && line == "---":
			return first, calls
		}
		key, command, _ := strings.Cut(strings.TrimPrefix(line, "- "), ":")
		if key != "command" || t.share(settings.Entry{Command: strings.Trim(strings.TrimSpace(command), `"'`)}) == settings.NotTheirs {
			continue
		}
		if calls++; first == 0 {
			first = number
		}
	}
	return first, calls
}
