package runbook

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// What the store takes as one event, as JSON. Each pipeline begins with its whole plan, so
// that nothing depends on a file that changes, and with the start of its first step. The
// rest is for variables and names.
const (
	maxPlan  = 240 << 10 // a plan and the largest of its starts
	MaxStart = 160 << 10 // what starts one step: a script; an agent's command, prompt and environment
)

// check looks at everything that one part of the runbook says about another.
func (d *decoder) check() {
	agents := names(d.allAgents(), (*agentDraft).name)
	pipelines := names(d.allPipelines(), (*pipelineDraft).name)

	for _, p := range d.pipelines {
		d.checkGroups(p)
		d.checkBranchValues(p)
		d.checkAgentItems(p)
		d.checkMoves(p)
		d.checkReach(p)
		d.checkVariables(p)
		for i, s := range p.Steps {
			d.checkReference("agent", s.Run.Agent, p.steps[i].runAt, agents)
			d.checkReference("pipeline", s.Run.Pipeline, p.steps[i].runAt, pipelines)
		}
	}

	d.checkUses()
	for _, c := range d.commands {
		d.checkReference("agent", c.Run.Agent, c.runAt, agents)
		d.checkReference("pipeline", c.Run.Pipeline, c.runAt, pipelines)
	}

	d.checkWorkers(pipelines)
	d.checkLocals()
	d.checkVars()
	d.checkSchedules()
	d.checkTemplates()
	d.checkWorkspaces()
	d.checkScripts()
	if d.from == nil { // an importer may start what nothing here does
		d.checkStarted()
		d.checkAlone()
	}
	d.checkImports()

	if d.Count == 0 {
		d.checkConstants()
	}
	if d.Count == 0 && len(d.allFaults()) == 0 {
		d.checkSize()
	}
}

// style is a fault that makes a runbook hard to read, and not wrong. What was written for
// oddjobs is read as it is.
func (d *decoder) style(at span, message, hint string) {
	if d.oddjobs {
		d.warn(at, message, hint)
		return
	}
	d.fault(at, message, hint)
}

func names[T any](of []T, name func(T) string) []string {
	out := make([]string, len(of))
	for i, one := range of {
		out[i] = name(one)
	}
	slices.Sort(out)
	return out
}

func (d *decoder) checkReference(what, name string, at span, known []string) {
	if _, found := slices.BinarySearch(known, name); name == "" || found || d.Overflows() {
		return
	}
	hint := document.OrValid(what, name, known)
	if i := slices.IndexFunc(known, func(k string) bool { return strings.HasSuffix(k, nameSeparator+name) }); i >= 0 {
		hint = "did you mean " + quote(known[i]) + "?"
	}
	if hint == "" {
		hint = "the runbook has no " + what + "; what it uses must be in the same file, or in one that it imports"
	}
	d.fault(at, "there is no "+what+" "+quote(name), hint)
}

// inside is the place of a word in a part of the text, or the part.
func (d *decoder) inside(at span, word string) span { return d.insideNth(at, word, 0) }

// insideNth is inside for a word that stands there several times.
func (d *decoder) insideNth(at span, word string, nth int) span {
	part, from := d.Text[at.at:at.at+at.size], 0
	for ; ; nth-- {
		i := strings.Index(part[from:], word)
		switch from += i; {
		case i < 0:
			return at
		case nth == 0:
			return span{at.at + from, len(word)}
		}
		from += len(word)
	}
}

// checkMoves sees to it that every transition leads to a step.
func (d *decoder) checkMoves(p *pipelineDraft) {
	steps := stepNames(p)
	if len(steps) == 0 {
		return // a fault says so
	}

	moves := slices.Clone(p.moves)
	for _, s := range p.steps {
		moves = append(moves, s.moves...)
	}

	for _, m := range moves {
		if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == m.to }); i >= 0 {
			if of := p.Steps[i].Of; of != "" {
				d.fault(m.at, m.field+": step "+quote(m.to)+" runs with others", "no transition leads to one of them")
			}
			continue
		}
		hint := document.OrValid("step", m.to, steps)
		if IsEnd(m.to) {
			hint = "leave " + m.field + " out: the pipeline ends when no step follows"
		}
		d.fault(m.at, m.field+": there is no step "+quote(m.to)+" in pipeline "+quote(p.Name), hint)
	}
}

func stepNames(p *pipelineDraft) []string {
	var out []string
	for _, s := range p.Steps {
		if s.Name != "" && !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
	}
	return out
}

// checkReach finds steps that nothing leads to. One that is found counts as reached from
// there on: what only it leads to is not another fault.
func (d *decoder) checkReach(p *pipelineDraft) {
	reached := map[string]bool{}
	var reach func(name string)
	reach = func(name string) {
		i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == name })
		if i < 0 || reached[name] {
			return
		}
		reached[name] = true
		for _, m := range p.steps[i].moves {
			reach(m.to)
		}
	}

	for _, m := range p.moves {
		reach(m.to)
	}

	for i, s := range p.Steps {
		if i == 0 || s.Name == "" || s.Of != "" || IsEnd(s.Name) || reached[s.Name] {
			reach(s.Name)
			continue
		}

		hint := "no transition leads to it"
		if before := p.Steps[i-1]; before.OnDone == "" && before.Name != "" {
			hint = "steps do not run in order automatically: add on_done = " + strconv.Quote(s.Name) + " to step " + quote(before.Name)
		}
		d.fault(p.steps[i].at, "step "+quote(s.Name)+" is never reached", hint)
		reach(s.Name)
	}
}

// use is a template: text that names stand in.
type use struct {
	names []string // each once
	at    span
	file  string   // that it is read from, if any
	home  *decoder // of the file that it stands in
	shell string   // the script, where a shell reads it
	item  bool     // it may stand for an item of for_each
	step  bool     // it is of a step
}

// checkVars looks for variables that nobody gives a value when a command starts what it
// runs.
func (d *decoder) checkVars() {
	agents := map[string]*agentDraft{}
	for _, a := range d.allAgents() {
		agents[a.Name] = a
	}

	pipelines := map[string]*pipelineDraft{}
	uses := map[string][]use{} // of pipelines, with their agents'
	for _, p := range d.allPipelines() {
		pipelines[p.Name] = p
		all, seen := p.home.through(p.uses, &p.locals), map[string]bool{"": true}
		for _, s := range p.Steps {
			if a := agents[s.Run.Agent]; a != nil && !seen[s.Run.Agent] {
				all = append(all, d.agentUses(a, p)...)
			}
			seen[s.Run.Agent] = true
		}
		uses[p.Name] = all
		d.checkStepValues(p, all)
	}

	gets := map[string]map[string]string{} // to pipelines, by all commands
	for _, c := range d.starting() {
		what, given := cmp.Or(c.starter, "command "+quote(c.Name)), c.Args.absent()
		maps.Copy(given, c.Defaults)
		if p := pipelines[c.Run.Pipeline]; p != nil {
			if c.starter == "" {
				what += ", which runs pipeline " + quote(p.Name) + ","
			}
			maps.Copy(given, p.Defaults)
			gets[p.Name] = with(gets[p.Name], given)
		}
		if c.broken {
			delete(pipelines, c.Run.Pipeline) // what that is given is not known
			continue
		}

		all := slices.Concat(d.through(c.uses, &d.locals), uses[c.Run.Pipeline])
		if a := agents[c.Run.Agent]; a != nil {
			all = append(all, a.home.through(a.uses, &a.home.locals)...)
		}
		for _, u := range all {
			d.checkUse(u, c, what, given)
		}
	}

	for name, all := range gets {
		if p := pipelines[name]; p != nil {
			d.checkGiven(p, all)
		}
	}
}

// agentUses are the templates of an agent, with those of the locals that it has in a
// pipeline: an agent from another file has only that file's.
func (d *decoder) agentUses(a *agentDraft, p *pipelineDraft) []use {
	if a.home == p.home {
		return a.home.through(a.uses, &p.locals)
	}
	return a.home.through(a.uses, &a.home.locals)
}

// through are templates with the names that stand in the locals that they name.
func (d *decoder) through(uses []use, in *scope) []use {
	all := slices.Clone(uses)
	for i, u := range all {
		all[i].home = d
		for _, template := range u.names {
			if l := d.localOf(template, in); l != nil {
				all[i].names = append(slices.Clone(all[i].names), Names(l.text)...)
			}
		}
		slices.Sort(all[i].names)
		all[i].names = slices.Compact(all[i].names)
	}
	return all
}

// with is a map that holds another as well.
func with(m, other map[string]string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	maps.Copy(m, other)
	return m
}

// checkGiven records the variables of a pipeline that no command gives a value.
func (d *decoder) checkGiven(p *pipelineDraft, given map[string]string) {
	for i, name := range p.Vars {
		if _, known := given[name]; !known && !d.Overflows() {
			at := p.vars[i]
			if p.home != d {
				at = d.importOf(p.Name)
			}
			d.fault(at, "no command gives variable "+quote(name)+" of pipeline "+quote(p.Name)+" a value, and it has no default",
				"add it to a command's args, or set a default")
		}
	}
}

// checkUse records the variables of a template that are not among those given.
func (d *decoder) checkUse(u use, c *commandDraft, what string, given map[string]string) {
	for _, name := range u.names {
		variable, ok := strings.CutPrefix(name, "var.")
		if _, known := given[variable]; !ok || known || d.Overflows() {
			continue
		}
		template, in := "${"+name+"}", ""
		if u.file != "" {
			in = " (in " + u.file + ")"
		}
		at := u.home.inside(u.at, template)
		if u.home != d {
			at, in = c.runAt, " (in "+u.home.place(at)+")"
		}
		hint := "add it to the command's args, or set a default"
		if c.starter != "" {
			hint = "give it a value there, or a default"
		}
		if meant := document.DidYouMean(variable, slices.Sorted(maps.Keys(given))); meant != "" {
			hint = meant
		}
		d.fault(at, template+in+" has no value: "+what+" has no such argument, and it has no default", hint)
	}
}

// checkTemplates finds names with a dot that a shell would be left with: it knows none.
func (d *decoder) checkTemplates() {
	for _, u := range d.allUses() {
		for _, name := range u.names {
			if (u.item || u.step) && strings.HasPrefix(name, "item.") {
				continue // see checkBranchValues
			}
			if u.shell == "" || !strings.Contains(name, ".") || hasSource(name) || strings.HasPrefix(name, "steps.") || slices.Contains(Templates(), name) {
				continue
			}
			template := "${" + name + "}"
			d.fault(d.inside(u.at, template), "unknown template "+template, templateHint(name))
		}
	}
}

func templateHint(name string) string {
	prefix, rest, _ := strings.Cut(name, ".")
	same, other := oddTemplates()
	if ours, ok := same[prefix]; ok {
		return "write ${" + ours + "." + rest + "}"
	}
	if hint, ok := other[prefix]; ok {
		return hint
	}
	return "templates: ${var.NAME}, ${local.NAME}, ${const.NAME}, ${" + strings.Join(Templates(), "}, ${") + "}"
}

// hasSource reports whether a template's name says where its value comes from: then what is
// wrong with it is found there.
func hasSource(name string) bool {
	return strings.HasPrefix(name, "var.") || strings.HasPrefix(name, localPrefix) || strings.HasPrefix(name, constPrefix)
}

// allUses are the templates of the whole runbook.
func (d *decoder) allUses() (uses []use) {
	for _, c := range d.commands {
		uses = append(uses, c.uses...)
	}
	for _, p := range d.pipelines {
		uses = append(uses, p.uses...)
	}
	for _, a := range d.agents {
		uses = append(uses, a.uses...)
	}
	return uses
}

// Templates are the names that the engine knows, beside var.NAME.
func Templates() []string {
	return []string{"pipeline_id", "agent_run_id", "name", "step", "agent", "agent_id", "error", "invoke.dir", "project", "workspace.path", "workspace.branch", "workspace.base"}
}

// checkStarted warns of pipelines that no command starts: nothing else does.
func (d *decoder) checkStarted() {
	for _, p := range d.pipelines {
		started := slices.ContainsFunc(d.starting(), func(c *commandDraft) bool { return c.Run.Pipeline == p.Name })
		if !started && !slices.ContainsFunc(d.pipelines, func(other *pipelineDraft) bool { return other.runs(p.Name) }) {
			d.warn(p.at, "no command runs pipeline "+quote(p.Name), "")
		}
	}
}

// checkAlone warns of what an agent says for when it runs alone, which no command has it do.
func (d *decoder) checkAlone() {
	for _, a := range d.agents {
		if slices.ContainsFunc(d.commands, func(c *commandDraft) bool { return c.Run.Agent == a.Name }) {
			continue
		}
		for _, e := range a.alone {
			d.warn(e.at, e.key+" of agent "+quote(a.Name)+" applies only to an agent that runs alone, and no command does that", "move it to the pipeline")
		}
	}
}

// checkSize sees to it that what a command runs can be stored.
func (d *decoder) checkSize() {
	book, seen := d.book(), map[Run]bool{}
	for _, c := range d.starting() {
		if seen[c.Run] {
			continue
		}
		seen[c.Run] = true
		plan, _ := book.Plan(c.Command)
		largest := 0
		for _, s := range plan.Pipeline.Steps {
			size := startSize(s, plan.Agents[s.Run.Agent], plan.Pipeline.Locals)
			if largest = max(largest, size); size > MaxStart {
				d.tooLarge(c.at, "step "+quote(s.Name)+" of command "+quote(c.Name), size, MaxStart, ", including the prompt in the command")
			}
		}
		if size := jsonSize(plan) + largest; size > maxPlan {
			d.tooLarge(c.at, "the plan of command "+quote(c.Name), size, maxPlan, " with all prompts, counting the largest one twice")
		}
	}
}

func (d *decoder) tooLarge(at span, what string, size, most int, with string) {
	d.fault(at, what+" has "+strconv.Itoa(size>>10)+" KiB"+with+"; "+strconv.Itoa(most>>10)+" KiB is the limit",
		"keep long texts in files that the agent reads")
}

// startSize is how large the start of a step is, before variables are put in.
func startSize(s Step, a Agent, locals map[string]string) int {
	values := map[string]string{}
	for name, text := range locals {
		values[localPrefix+name] = text
	}
	prompt := Expand(a.Prompt, values)
	values["prompt"] = prompt
	size := jsonSize(ExpandShell(s.Run.Shell, values)) + jsonSize(prompt) + jsonSize(ExpandShell(a.Run, values))
	for name, text := range a.Env {
		size += jsonSize(name) + jsonSize(Expand(text, values))
	}
	return size
}

// jsonSize is how large something is in the store.
func jsonSize(v any) int {
	text, err := rawjson.Marshal(v)
	if err != nil {
		return maxPlan + 1
	}
	return len(text) + 1
}
