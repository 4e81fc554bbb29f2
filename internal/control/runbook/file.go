package runbook

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFile is far above any runbook that a person writes.
const maxFile = 1 << 20

// Parse reads one runbook. The path tells the format; readFile reads what prompt_file
// names, a path below the runbooks directory with slashes in it. The runbook is complete
// only where there is no fault.
func Parse(name string, text []byte, readFile func(name string) ([]byte, error)) (Runbook, Faults) {
	d := &decoder{source: newSource(name, text), readFile: readFile}
	tree := d.parse()
	if tree == nil {
		return Runbook{}, d.found()
	}
	d.runbook(value{d, "the runbook", span{}, tree})
	d.check()
	return d.book(), d.found()
}

// parse reads the tree; nil means that a fault says why there is none.
func (d *decoder) parse() *node {
	switch {
	case len(d.text) > maxFile:
		d.faultOfFile("is larger than "+strconv.Itoa(maxFile>>20)+" MiB", "")
		return nil
	case !utf8.ValidString(d.text):
		d.faultOfFile("is not UTF-8", "")
		return nil
	}
	switch filepath.Ext(d.path) {
	case ".toml":
		return d.parseTOML()
	case ".hcl":
		return d.parseHCL()
	}
	d.faultOfFile("is no runbook: its name must end in .toml or .hcl", "")
	return nil
}

// decoder makes a runbook of a tree. References are looked at when everything is read.
type decoder struct {
	*source
	readFile func(string) ([]byte, error)

	commands  []*commandDraft
	pipelines []*pipelineDraft
	agents    []*agentDraft
	maxAgents int

	uses []use // templates of what is being read
}

// commandDraft, pipelineDraft and agentDraft are what was read, with the places that
// later faults are about.
type commandDraft struct {
	Command
	at     span // of its name
	runAt  span
	uses   []use
	broken bool // what it takes is not known
}

type pipelineDraft struct {
	Pipeline
	at    span
	vars  []span // of the names in Vars
	steps []stepDraft
	moves []move // its own
	uses  []use
}

type stepDraft struct {
	at    span
	runAt span
	moves []move
}

// move is a transition: to a step, by a field.
type move struct {
	field string
	to    string
	at    span
}

type agentDraft struct {
	Agent
	at   span
	args []word // of a client
	uses []use
	// What counts only where it runs alone, and is given.
	alone []entry
}

func (d *decoder) runbook(v value) {
	v.table(
		field{key: "command", read: func(v value) { v.named(d.command) }},
		field{key: "pipeline", read: func(v value) { v.named(d.pipeline) }},
		field{key: "agent", read: func(v value) { v.named(d.agent) }},
		field{key: "max_agents", read: func(v value) { v.count(&d.maxAgents) }},
	)
}

// named reads definitions by their names.
func (v value) named(read func(value)) {
	v.entries(func(v value) {
		v.d.checkName(v.name, v.key)
		v.d.uses = nil
		read(v)
	})
}

func (d *decoder) command(v value) {
	c := &commandDraft{Command: Command{Name: v.name}, at: v.key}
	v.table(
		field{key: "description", read: func(v value) { v.text(&c.Description) }},
		field{key: "args", read: func(v value) { c.broken = !v.args(&c.Args) }},
		field{key: "defaults", read: func(v value) { v.values(badName, &c.Defaults, value.text) }},
		field{key: "run", required: true, read: func(v value) { c.runAt = v.run(&c.Run, "pipeline", "agent") }},
	)
	c.uses = d.uses
	d.commands = append(d.commands, c)
}

// args reads what a command takes.
func (v value) args(to *ArgSpec) bool {
	if !v.is(textKind, "") {
		return false
	}
	spec, err := ParseArgSpec(v.node.text)
	var wrong *ArgSpecError
	if errors.As(err, &wrong) {
		at := v.node.at
		if at.size == len(v.node.text)+2 { // one line between quotes, as it is
			at = span{at.at + 1 + wrong.At, 1}
		}
		v.d.fault(at, wrong.Message, "such as: <name> [--base <branch>] [files...]")
		return false
	}
	*to = spec
	return true
}

// run reads what is to be run, a script or a table with one of the kinds, and returns the
// place of what that names.
func (v value) run(to *Run, kinds ...string) (at span) {
	switch nested := v.node.get("pipeline"); {
	case v.node.kind == textKind:
		v.script(&to.Shell)
		return v.node.at
	case v.node.kind != tableKind && v.node.kind != brokenKind:
		v.fault("run must be a shell command, or { "+kinds[0]+" = \"NAME\" }", "")
		return v.node.at
	case nested != nil && !slices.Contains(kinds, "pipeline"):
		v.d.fault(nested.at, "a step cannot run a pipeline", "put its steps into this pipeline, or start it with a command: stopgate start NAME")
		return v.node.at
	}
	targets := map[string]*string{"agent": &to.Agent, "pipeline": &to.Pipeline}
	var fields []field
	for _, kind := range kinds {
		fields = append(fields, field{key: kind, read: func(v value) {
			at = v.node.at
			v.text(targets[kind])
		}})
	}
	if v.table(fields...) && len(v.node.entries) != 1 {
		*to = Run{}
		v.fault("run needs exactly one of: "+strings.Join(kinds, ", "), "")
	}
	return at
}

func (d *decoder) pipeline(v value) {
	p := &pipelineDraft{Pipeline: Pipeline{Name: v.name}, at: v.key}
	ok := v.table(append([]field{
		{key: "vars", read: func(v value) { v.vars(p) }},
		{key: "defaults", read: func(v value) { v.values(badName, &p.Defaults, value.text) }},
		{key: "cwd", read: func(v value) { v.words(&p.Cwd) }},
		{key: "notify", read: func(v value) { v.notify(&p.Notify) }},
		{key: "budget", read: func(v value) { v.budget(&p.Budget) }},
		{key: "expire", read: func(v value) { v.expire(&p.Expire) }},
		{key: "step", read: func(v value) {
			hint := "their order matters: write [[pipeline." + p.Name + ".step]] with name = \"…\" for each"
			v.list(hint, func(v value) { d.step(v, p) })
		}},
	}, d.transitions(&p.OnDone, &p.OnFail, &p.OnCancel, &p.moves)...)...)
	if steps := v.node.get("step"); ok && (steps == nil || steps.node.kind == listKind && len(steps.node.items) == 0) {
		d.fault(v.key, "pipeline "+quote(p.Name)+" has no step", "")
	}
	p.uses = d.uses
	d.pipelines = append(d.pipelines, p)
}

func (d *decoder) step(v value, p *pipelineDraft) {
	var s Step
	draft := stepDraft{at: v.key}
	ok := v.table(append([]field{
		{key: "name", required: true, read: func(v value) {
			draft.at = v.node.at
			if v.is(textKind, "") {
				s.Name = v.node.text
				d.stepName(s.Name, v.node.at, p)
			}
		}},
		{key: "run", required: true, read: func(v value) { draft.runAt = v.run(&s.Run, "agent") }},
	}, d.transitions(&s.OnDone, &s.OnFail, &s.OnCancel, &draft.moves)...)...)
	if ok {
		p.Steps, p.steps = append(p.Steps, s), append(p.steps, draft)
	}
}

func (d *decoder) stepName(name string, at span, p *pipelineDraft) {
	if !d.checkName(name, at) {
		return
	}
	if IsEnd(name) {
		d.fault(at, "a step cannot be called "+quote(name)+": that is how a pipeline ends", "")
	}
	if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == name }); i >= 0 {
		d.fault(at, "duplicate step "+quote(name), "it is already on line "+strconv.Itoa(d.line(p.steps[i].at)))
	}
}

// transitions are the fields that lead to another step.
func (d *decoder) transitions(done, fail, cancel *string, moves *[]move) []field {
	one := func(key string, to *string) field {
		return field{key: key, read: func(v value) {
			if v.node.kind == tableKind {
				v.table(field{key: "step", required: true, read: func(v value) { v.step(key, to, moves) }})
				return
			}
			v.step(key, to, moves)
		}}
	}
	return []field{one("on_done", done), one("on_fail", fail), one("on_cancel", cancel)}
}

func (v value) step(field string, to *string, moves *[]move) {
	if v.text(to) {
		*moves = append(*moves, move{field, *to, v.node.at})
	}
}

func (v value) vars(p *pipelineDraft) {
	v.list("write a list of names: [\"name\"]", func(v value) {
		if !v.is(textKind, "") || !v.d.checkName(v.node.text, v.node.at) {
			return
		}
		if slices.Contains(p.Vars, v.node.text) {
			v.fault("duplicate variable "+quote(v.node.text), "")
			return
		}
		p.Vars, p.vars = append(p.Vars, v.node.text), append(p.vars, v.node.at)
	})
}

func (v value) notify(to *Notify) {
	v.table(
		field{key: "on_start", read: func(v value) { v.words(&to.OnStart) }},
		field{key: "on_done", read: func(v value) { v.words(&to.OnDone) }},
		field{key: "on_fail", read: func(v value) { v.words(&to.OnFail) }},
	)
}

// promptFile reads the text of a file below the runbooks directory. Files elsewhere are
// not what a person approves together with the runbook.
func (v value) promptFile(to *string) {
	var name string
	if !v.text(&name) {
		return
	}
	if !filepath.IsLocal(name) || path.Clean(name) != name || strings.ContainsAny(name, `\:`) {
		v.fault("prompt_file must be a path below the runbooks directory, without ..", "such as: prompts/review.md")
		return
	}
	data, err := v.d.readFile(name)
	if err != nil {
		v.fault("prompt_file "+quote(name)+" "+whyUnread(err), "it is looked for in the runbooks directory")
		return
	}
	text := string(data)
	if message := unfit(text); message != "" {
		v.fault("prompt_file "+quote(name)+" "+message, "")
		return
	}
	*to = text
	v.use(text, "")
	v.d.uses[len(v.d.uses)-1].file = name
}

// whyUnread is why a file cannot be read, without its path.
func whyUnread(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.As(err, &at):
		return "cannot be read: " + at.Err.Error()
	}
	return "cannot be read: " + err.Error()
}

// book is what was read, without the places.
func (d *decoder) book() Runbook {
	book := Runbook{
		Path: d.path, Name: filepath.Base(d.path), MaxAgents: d.maxAgents,
		Commands: map[string]Command{}, Pipelines: map[string]Pipeline{}, Agents: map[string]Agent{},
		Warnings: inOrder(d.warnings),
	}
	for _, c := range d.commands {
		book.Commands[c.Name] = c.Command
	}
	for _, p := range d.pipelines {
		book.Pipelines[p.Name] = p.Pipeline
	}
	for _, a := range d.agents {
		book.Agents[a.Name] = a.Agent
	}
	return book
}
