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
	"github.com/stopgate/stopgate/internal/project/document"
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
	// Deny are the tool calls that are denied.
	Deny []Deny

	entryPoints []entryDraft
}

// HasRules reports whether the project has commands or rules for an event.
func (p *Project) HasRules(event hook.Event) bool {
	return len(p.Hooks[event]) > 0 || event == hook.PreToolUse && len(p.Deny) > 0
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
	Pos         document.Position
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
func Validate(dir, shown string) []document.Fault {
	var all []document.Fault
	add := func(err error) {
		if faults, ok := errors.AsType[*document.Faults](err); ok {
			all = append(all, faults.All...)
		}
	}
	project, err := draftProject(dir, shown)
	add(err)
	_, err = LoadGates(dir, shown, project)
	add(err)
	return all
}

// parseProject reads the content of a config.yml. The name is for faults and positions
// only.
func parseProject(name string, data []byte) (*Project, error) {
	project := &Project{Gauntlet: defaultGauntlet()}
	return project, decode(newSource(name, data), project.read)
}

func (p *Project) read(v value) {
	cli, entries := nothing, nothing
	v.Mapping(p.fields(&cli, &entries)...)
	// Last, because they depend on cli wherever that is written.
	entryPoints(p.Gauntlet.CLI.DefaultPreference).Read(entries, &p.entryPoints)
	reviewed := func(e entryDraft) bool { return len(e.reviews) > 0 }
	if cli.Key == nil && slices.ContainsFunc(p.entryPoints, reviewed) {
		v.Source.Fault(v, "cli is missing", "reviews need a reviewer, such as cli: {default_preference: [claude]}")
	}
}

func (p *Project) fields(cli, entries *value) []field {
	return slices.Concat([]field{
		document.Key("hooks", &p.Hooks, hooks, "Commands for hook events of Claude Code."),
		document.Key("deny", &p.Deny, denials(), "Tool calls that are denied before they run."),
		modeField(&p.Mode, "observe: run and record the gates, but block nothing."),
		document.Key("quiet", &p.Quiet, document.Flag, "Do not report gates that passed.").Default(false),
		document.Key("entry_points", entries, later(entryPoints(nil)), "Which gates run for changes in which path."),
		document.Key("cli", &p.Gauntlet.CLI, section((*CLI).fields), "The reviewers. Required if there is a review.").Kept(cli),
	}, p.Gauntlet.fields(), p.Protect.fields())
}

// later keeps a value that can only be read when the others are.
func later[T any](t typeOf[T]) typeOf[value] {
	return document.New(func(v value, to *value) bool {
		*to = v
		return true
	}, t.Schema)
}

// projectSchema is that of config.yml: reviews need a program to do them.
func projectSchema() schema {
	reviewed := schema{"type": "object", "required": []string{"reviews"}, "properties": schema{"reviews": schema{"type": "array", "minItems": 1}}}
	s := orNull(document.Properties(new(Project).fields(nil, nil)...))
	s["if"] = schema{
		"required":   []string{"entry_points"},
		"properties": schema{"entry_points": schema{"type": "array", "contains": reviewed}},
	}
	s["then"] = schema{"required": []string{"cli"}}
	s["$defs"] = schema{
		"check":  checkSchema(inlineName(nil)),
		"review": reviewSchema(inlineName(nil)),
		"hook":   document.Properties(new(Command).fields()...),
	}
	return s.With("title", ".gauntlet/config.yml")
}

// hooks reads the commands of each event.
var hooks = typeOf[map[hook.Event][]Command]{Read: readHooks, Schema: hooksSchema}

func readHooks(v value, to *map[hook.Event][]Command) bool {
	entries, ok := v.Entries()
	hooks := make(map[hook.Event][]Command, len(entries))
	for _, entry := range entries {
		event := hook.Event(entry.Name)
		if !event.Known() {
			v.Unknown("event", entry.Name, entry.Key, document.Strings(hook.Events()))
			continue
		}
		items, _ := entry.List("")
		for _, item := range items {
			hooks[event] = append(hooks[event], readCommand(event, item))
		}
	}
	*to = hooks
	return ok
}

func hooksSchema() schema {
	events := schema{}
	for _, event := range hook.Events() {
		limits := schema{}
		if !event.Blockable() {
			limits["on_failure"] = schema{"const": Report}
		}
		if !event.HasSubject() {
			limits["match"] = schema{"const": defaultMatch}
		}
		item := document.Ref("hook")()
		if len(limits) > 0 {
			item["properties"] = limits
		}
		events[string(event)] = schema{"type": []string{"array", "null"}, "items": item}
	}
	return schema{"type": []string{"object", "null"}, "properties": events, "additionalProperties": false}
}

func readCommand(event hook.Event, v value) Command {
	c := Command{
		Event:       event,
		Match:       defaultMatch,
		Timeout:     defaultTimeout,
		OnFailure:   Report,
		OutputLines: defaultOutputLines,
		Pos:         v.Position(),
	}
	if event == hook.Stop {
		c.OnFailure = Block
	}
	v.Mapping(c.fields()...)
	return c
}

func (c *Command) fields() []field {
	return []field{
		document.Key("match", &c.Match, c.match(), "A pattern for what the event is about, such as the name of the agent.").Default(defaultMatch),
		document.Key("run", &c.Run, command(), "Run by a shell.").Needed(),
		document.Key("timeout", &c.Timeout, duration(maxTimeout), "At most 1h. After that, the command and its children are killed.").Default("1m"),
		document.Key("on_failure", &c.OnFailure, c.onFailure(), "Default: block for Stop, report for other events."),
		document.Key("message", &c.Message, anyText, "Text for the agent, before the output of the command."),
		document.Key("output_lines", &c.OutputLines, count(1, maxOutputLines), "How much of the output is passed on, counted from its end.").Default(defaultOutputLines),
	}
}

func (c *Command) match() typeOf[string] {
	return textThat(glob(), rule{
		func(text string) bool { return text == defaultMatch || c.Event.HasSubject() },
		string(c.Event) + " has nothing to match against", "remove match",
	})
}

func (c *Command) onFailure() typeOf[OnFailure] {
	return document.Then(oneOf(Report, Block), func(v value, action OnFailure) (OnFailure, bool) {
		possible := action != Block || c.Event.Blockable()
		if !possible {
			v.Fault(string(c.Event)+" cannot be blocked", "write report")
		}
		return action, possible
	})
}
