package runbook

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/project/document"
)

// maxFile is far above any runbook that a person writes.
const maxFile = 1 << 20

// newDecoder reads the file of a name in a runbooks directory, which is shown as a path.
func newDecoder(from origin, name, shown string, text []byte) *decoder {
	s := newSource(shown, text)
	s.expansions = from.oddjobs
	return &decoder{source: s, origin: from, name: name, readFile: from.read, files: new(int)}
}

// read reads the file and all that it imports.
func (d *decoder) read() {
	tree := d.parse()
	if tree == nil {
		return
	}

	d.fromOddjobs(tree)
	d.scopeLocals(tree)
	d.constants(tree)
	root := value{Source: d.Source, Name: "the runbook", Node: placed{d.source, tree}}
	root.Mapping(d.fields()...)
	d.link()

	for _, c := range d.missing() {
		if d.from == nil {
			d.warn(c.at, "const "+quote(c.name)+" has no value, so that this file can only be imported", "give it a default to start its commands")
		}
	}
	if len(d.missing()) == 0 {
		d.check()
	}
}

// parse reads the tree; nil means that a fault says why there is none.
func (d *decoder) parse() *node {
	switch {
	case len(d.Text) > maxFile:
		d.faultOfFile("is larger than " + strconv.Itoa(maxFile>>20) + " MiB")
		return nil
	case !utf8.ValidString(d.Text):
		d.faultOfFile("is not UTF-8")
		return nil
	}

	switch filepath.Ext(d.path) {
	case ".toml":
		return d.parseTOML()
	case ".hcl":
		return d.parseHCL()
	case ".json":
		if d.oddjobs {
			return d.parseJSON()
		}
	}
	d.faultOfFile("is not a runbook: its name must end in .toml or .hcl")
	return nil
}

// decoder makes a runbook of a tree. References are looked at when everything is read.
type decoder struct {
	*source
	origin
	name     string // of the file, below the runbooks directory
	readFile func(string) ([]byte, error)

	from     *importing // that the file is read for; nil for a runbook of its own
	files    *int       // that were imported, by all files of the runbook
	imports  []*importing
	imported shelfOf
	given    []use // templates in the values that imports get
	consts   []*constant
	locals   scope
	space    string // that the names of its locals begin with, outside of this file

	commands  []*commandDraft
	pipelines []*pipelineDraft
	agents    []*agentDraft
	queues    []*queueDraft
	workers   []*workerDraft
	maxAgents int

	uses []use // templates of what is being read
}

// commandDraft, pipelineDraft and agentDraft are what was read, with the places that
// later faults are about.
type commandDraft struct {
	Command
	home   *decoder
	at     span // of its name
	runAt  span
	uses   []use
	broken bool // what it takes is not known

	scheduleAt span
	starter    string // what starts it, if that is not a command
}

type pipelineDraft struct {
	Pipeline
	home   *decoder
	at     span
	locals scope
	vars   []span // of the names in Vars
	steps  []stepDraft
	moves  []move // its own
	uses   []use
}

type stepDraft struct {
	at    span
	runAt span
	moves []move
	uses  []use // templates, with those of its branches
	node  *node // as it is written; nil for the step of a graph

	parallel *node // what its branches are written in
	branches []Step
	inner    []stepDraft // of the branches
	needs    []move
	each     bool // it has for_each
}

// move is a transition: to a step, by a field.
type move struct {
	field string
	to    string
	at    span
}

type agentDraft struct {
	Agent
	home *decoder
	at   span
	args []word // of a client
	uses []use
	// For every action that does not say otherwise.
	attempts int
	cooldown time.Duration
	// What counts only where it runs alone, and is given.
	alone []entry
}

func (d *decoder) fields() []field {
	return []field{
		d.named("command", d.command, "Commands for stopgate start NAME."),
		d.named("pipeline", d.pipeline, "Steps and the transitions between them."),
		d.named("agent", d.agent, "How an agent is started, and its actions."),
		d.named("queue", d.queue, "Work that waits for workers."),
		d.named("worker", d.worker, "What runs a pipeline for each item of a queue."),
		d.importField(),
		d.constField(),
		d.localsField(&d.locals),
		document.Key("max_agents", &d.maxAgents, count, "How many agents of this runbook run at once in the project. Default: no limit."),
	}
}

// named reads definitions by their names.
func (d *decoder) named(what string, read func(value), says string) field {
	return field{Name: what, Read: func(v value) {
		entries, _ := v.Entries()
		for _, e := range entries {
			d.checkName(e.Name, e.Key)
			d.uses = nil
			read(e)
		}
	}, Type: func() schema {
		return schema{"type": "object", "propertyNames": nameSchema(), "additionalProperties": document.Ref(what)()}
	}, Says: says}
}

func (d *decoder) command(v value) {
	c := &commandDraft{Command: Command{Name: v.Name}, home: d, at: keyOf(v)}
	v.Mapping(d.commandFields(c)...)
	c.uses = d.uses
	d.commands = append(d.commands, c)
}

func (d *decoder) commandFields(c *commandDraft) []field {
	return []field{
		document.Key("description", &c.Description, text, "A description in one line."),
		document.Key("args", c, args, "Arguments: <name> [name] <names...> --flag -f/--flag --option <value> [--option <value>]."),
		document.Key("defaults", &c.Defaults, texts(badName, nameSchema, text), "Default values of arguments."),
		d.run(&c.Run, &c.runAt, "A shell command, { pipeline = \"NAME\" } or { agent = \"NAME\" }.", "pipeline", "agent"),
		document.Key("schedule", &c.Schedule, document.Then(d.schedule(commandScheduleFields, "command_schedule"), func(v value, s Schedule) (Schedule, bool) {
			c.scheduleAt = nodeOf(v).at
			return s, true
		}), "When it starts automatically: five cron fields, or a table."),
		document.Key("job", &c.Job, job, "Starting it adds a job to the fleet, which any machine with room may do: true, or a table."),
	}
}

// args is what a command takes.
var args = document.New(readArgs, document.AnyText)

func readArgs(v value, to *commandDraft) bool {
	to.broken = true
	if !is(v, document.Text, "") {
		return false
	}
	spec, err := parseArgSpec(v.Node.Text())
	var bad *ArgSpecError
	if errors.As(err, &bad) {
		v.Source.Fault(insideText(v, bad.At), bad.Message, "such as: <name> [--base <branch>] [files...]")
		return false
	}
	to.Args, to.broken = spec, false
	return true
}

// insideText is the place of a byte of a text, or the text where it is not written as it is.
func insideText(v value, at int) mark {
	m := mark{v.Node.(placed).source, nodeOf(v).at}
	if m.size == len(v.Node.Text())+2 { // one line between quotes
		m.span = span{m.at + 1 + at, 1}
	}
	return m
}

// run reads what is to be run, a script or a table with one of the kinds, and the place of
// what that names.
func (d *decoder) run(to *Run, at *span, says string, kinds ...string) field {
	return field{Name: "run", Required: true, Read: func(v value) {
		*at = nodeOf(v).at
		switch nested := nodeOf(v).get("pipeline"); {
		case v.Node.Kind() == document.Text:
			d.script().Read(v, &to.Shell)
		case v.Node.Kind() != document.Mapping && v.Node.Kind() != document.Broken:
			wrong(v, "run must be a shell command, or { "+kinds[0]+" = \"NAME\" }", "")
		case nested != nil && !slices.Contains(kinds, "pipeline"):
			d.fault(nested.at, "a step cannot run a pipeline", `write uses = "`+nested.node.text+`" in place of run, and vars for its variables`)
		default:
			readReference(v, to, at, kinds)
		}
	}, Type: func() schema {
		forms := []schema{text.Schema().Says("A shell command.")}
		for _, kind := range kinds {
			forms = append(forms, document.Properties(field{Name: kind, Required: true, Type: nameSchema}))
		}
		return document.AnyOf(forms...)
	}, Says: says}
}

// readReference reads a table that names a pipeline or an agent.
func readReference(v value, to *Run, at *span, kinds []string) {
	targets := map[string]*string{"agent": &to.Agent, "pipeline": &to.Pipeline}
	*at = span{}
	var fields []field
	for _, kind := range kinds {
		fields = append(fields, field{Name: kind, Read: func(v value) {
			*at = nodeOf(v).at
			text.Read(v, targets[kind])
		}})
	}
	if v.Mapping(fields...) && len(nodeOf(v).entries) != 1 {
		*to = Run{}
		wrong(v, "run needs exactly one of: "+strings.Join(kinds, ", "), "")
	}
}

// promptFile reads the text of a file below the runbooks directory. Files elsewhere are
// not what a person approves together with the runbook.
func (d *decoder) promptFile() typeOf[string] { return document.New(d.readPromptFile, text.Schema) }

func (d *decoder) readPromptFile(v value, to *string) bool {
	var name string
	if !text.Read(v, &name) {
		return false
	}
	if !isBelow(name) {
		wrong(v, "prompt_file must be a path below the runbooks directory, without ..", "such as: prompts/review.md")
		return false
	}

	data, err := d.readFile(name)
	if err != nil {
		wrong(v, "prompt_file "+quote(name)+" "+document.WhyUnread(err), "it must be in the runbooks directory")
		return false
	}
	text := d.withConstants(d.scoped(string(data)), nodeOf(v).at)
	if message := unfit(text); message != "" {
		wrong(v, "prompt_file "+quote(name)+" "+message, "")
		return false
	}

	*to = text
	d.use(v, text, "")
	d.uses[len(d.uses)-1].file = name
	return true
}

// book is what was read, without the places.
func (d *decoder) book() Runbook {
	book := Runbook{
		Path: d.path, Name: d.name, MaxAgents: d.maxAgents, Oddjobs: d.oddjobs,
		Commands: map[string]Command{}, Pipelines: map[string]Pipeline{}, Agents: map[string]Agent{},
		Imports: d.allImports(), Locals: d.allLocals(), Warnings: d.allWarnings(),
	}

	for _, c := range d.allCommands() {
		book.Commands[c.Name] = c.Command
	}
	for _, p := range d.allPipelines() {
		p.Pipeline.Locals = p.home.localsOf(&p.locals)
		book.Pipelines[p.Name] = p.Pipeline
	}
	for _, a := range d.allAgents() {
		book.Agents[a.Name] = a.Agent
	}

	book.Queues, book.Workers = map[string]Queue{}, map[string]Worker{}
	for _, q := range d.queues {
		book.Queues[q.Name] = q.Queue
	}
	for _, w := range d.workers {
		book.Workers[w.Name] = w.Worker
	}

	if len(d.missing()) > 0 { // nothing of it can run
		book.Commands = map[string]Command{}
	}
	return book
}
