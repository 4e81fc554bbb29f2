// Package config reads every configuration file. It is strict: a key that
// nothing reads is a fault, because a gate that was misspelt enforces nothing.
// All faults of a file are reported at once, each with its place.
package config

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Project is a project's .gauntlet/config.yml.
type Project struct {
	// Hooks are the commands of each event, in the order of the file.
	Hooks map[hook.Event][]Command
	// Gauntlet is about gates. LoadGates reads the gates themselves: most calls
	// have no use for them.
	Gauntlet Gauntlet
	// Mode is whether anything is blocked; empty where the project does not say.
	Mode Mode
	// Quiet means that passes are not told.
	Quiet bool
	// Protect is what agents may not change without a person.
	Protect Protect

	entryPoints []entryDraft
}

// Command is one entry under hooks.
type Command struct {
	Event hook.Event
	// Match is a pattern for what the event is about, such as the agent.
	Match string
	// Run is handed to a shell.
	Run     string
	Timeout time.Duration
	// OnFailure says what becomes of the event when the command fails.
	OnFailure OnFailure
	// Message is for the agent, before the output of the command.
	Message string
	// OutputLines is how much of the output is passed on, from its end.
	OutputLines int
	Pos         Position
}

// OnFailure is what a failed command leads to.
type OnFailure string

const (
	// Report tells a person.
	Report OnFailure = "report"
	// Block objects to the event.
	Block OnFailure = "block"
)

const (
	defaultMatch       = "*"
	defaultTimeout     = time.Minute
	defaultOutputLines = 40

	// maxTimeout is above what any client waits for a hook.
	maxTimeout     = time.Hour
	maxOutputLines = 10_000
)

// LoadProject reads config.yml in dir, which is a project's .gauntlet or an
// approved copy of it. Faults and positions name the file as if dir were shown.
func LoadProject(dir, shown string) (*Project, error) {
	project, err := draftProject(dir, shown)
	if err != nil {
		return nil, err
	}
	return project, nil
}

// draftProject also gives what can be read of a file with faults, so that its
// gates can be looked at all the same.
func draftProject(dir, shown string) (*Project, error) {
	name := filepath.Join(shown, paths.ConfigFile)
	data, err := read(filepath.Join(dir, paths.ConfigFile), name)
	if err != nil {
		return &Project{Gauntlet: defaultGauntlet()}, err
	}
	return parseProject(name, data)
}

// Validate lists every fault of config.yml and of the gates, at once.
func Validate(dir, shown string) []Fault {
	var all []Fault
	add := func(err error) {
		var faults *Faults
		if errors.As(err, &faults) {
			all = append(all, faults.All...)
		}
	}
	project, err := draftProject(dir, shown)
	add(err)
	_, err = LoadGates(dir, shown, project)
	add(err)
	return all
}

// ParseProject reads the content of a config.yml. The name is for faults and
// positions only.
func ParseProject(name string, data []byte) (*Project, error) {
	project, err := parseProject(name, data)
	if err != nil {
		return nil, err
	}
	return project, nil
}

func parseProject(name string, data []byte) (*Project, error) {
	project := &Project{Gauntlet: defaultGauntlet()}
	return project, decode(name, data, project.read)
}

func (p *Project) read(v value) {
	var hasCLI bool
	var entryPoints value
	v.mapping(append(append([]field{
		{key: "hooks", read: func(v value) { p.Hooks = readHooks(v) }},
		{key: "mode", read: func(v value) { readMode(v, &p.Mode) }},
		{key: "quiet", read: into(&p.Quiet, value.boolean)},
		{key: "entry_points", read: func(v value) { entryPoints = v }},
		{key: "cli", read: func(v value) {
			hasCLI = true
			readCLI(v, &p.Gauntlet.CLI)
		}},
	}, p.Gauntlet.fields()...), p.Protect.fields()...)...)
	// Last, because they depend on cli wherever that is written.
	p.entryPoints = readEntryPoints(entryPoints, p.Gauntlet.CLI.DefaultPreference)
	reviewed := func(e entryDraft) bool { return len(e.reviews) > 0 }
	if !hasCLI && slices.ContainsFunc(p.entryPoints, reviewed) {
		v.d.fault(v.span(), "cli is missing", "there are reviews; say who is to do them, like cli: {default_preference: [claude]}")
	}
}

func readHooks(v value) map[hook.Event][]Command {
	entries, _ := v.entries()
	hooks := make(map[hook.Event][]Command, len(entries))
	for _, entry := range entries {
		event := hook.Event(entry.name)
		if !event.Known() {
			v.d.unknown("event", entry.name, entry.key, eventNames())
			continue
		}
		items, _ := entry.list()
		for _, item := range items {
			hooks[event] = append(hooks[event], readCommand(event, item))
		}
	}
	return hooks
}

func readCommand(event hook.Event, v value) Command {
	c := Command{
		Event:       event,
		Match:       defaultMatch,
		Timeout:     defaultTimeout,
		OnFailure:   Report,
		OutputLines: defaultOutputLines,
		Pos:         v.position(),
	}
	if event == hook.Stop {
		c.OnFailure = Block
	}
	v.mapping(
		field{key: "match", read: func(v value) { readMatch(v, event, &c.Match) }},
		field{key: "run", required: true, read: func(v value) { v.command(&c.Run) }},
		field{key: "timeout", read: func(v value) { v.duration(&c.Timeout, maxTimeout) }},
		field{key: "on_failure", read: func(v value) { readOnFailure(v, event, &c.OnFailure) }},
		field{key: "message", read: func(v value) { v.text(&c.Message) }},
		field{key: "output_lines", read: func(v value) { v.count(&c.OutputLines, 1, maxOutputLines) }},
	)
	return c
}

func readMatch(v value, event hook.Event, to *string) {
	if v.glob(to) && *to != defaultMatch && !event.HasSubject() {
		v.fault(string(event)+" has nothing to match against", "leave match out")
	}
}

func readOnFailure(v value, event hook.Event, to *OnFailure) {
	if oneOf(v, to, Report, Block) && *to == Block && !event.Blockable() {
		v.fault(string(event)+" cannot be blocked", "write report")
	}
}

func eventNames() []string {
	events := hook.Events()
	names := make([]string, len(events))
	for i, event := range events {
		names[i] = string(event)
	}
	return names
}
