package runbook

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// A local is a text with a name, made of templates whose values are known when something is
// started. So it has one value for as long as that runs.

// localPrefix begins the name of a local in a template.
const localPrefix = "local."

// local is a named text of a file or a pipeline.
type local struct {
	name  string // as it is written
	text  string
	at    span // of the name
	node  span // of the text
	flat  bool // other locals are put into the text
	used  bool
	scope *scope
}

// scope is where locals are looked for: those of a pipeline, then those of its file.
type scope struct {
	locals []*local
	outer  *scope
}

func (s *scope) find(name string) *local {
	for ; s != nil; s = s.outer {
		if i := slices.IndexFunc(s.locals, func(l *local) bool { return l.name == name }); i >= 0 {
			return s.locals[i]
		}
	}
	return nil
}

func (s *scope) names() []string {
	var all []string
	for ; s != nil; s = s.outer {
		for _, l := range s.locals {
			all = append(all, l.name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// locals reads named texts.
func (d *decoder) localsField(to *scope) field {
	says := "Texts with names, made of templates, used as ${local.NAME}."
	return field{Name: "locals", Read: func(v value) {
		entries, _ := v.Entries()
		for _, e := range entries {
			l := &local{name: e.Name, at: keyOf(e), node: nodeOf(e).at, scope: to}
			if d.checkName(l.name, e.Key) && is(e, document.Text, "") {
				if message := unfit(e.Node.Text()); message != "" {
					e.Fault(message, "")
					continue
				}
				l.text = e.Node.Text()
				to.locals = append(to.locals, l)
			}
		}
	}, Type: func() schema {
		return schema{"type": "object", "propertyNames": nameSchema(), "additionalProperties": document.AnyText()}
	}, Says: says}
}

// localName is what an imported file's local is called in the texts of its importer: two files
// may have one of the same name.
func (d *decoder) localName(name string) string { return d.space + name }

// scopeLocals gives the locals in all texts below a node the names that they have outside of
// this file.
func (d *decoder) scopeLocals(n *node) {
	if n.kind == document.Text {
		n.text = d.scoped(n.text)
	}
	for _, item := range n.items {
		d.scopeLocals(item)
	}
	for _, e := range n.entries {
		d.scopeLocals(e.node)
	}
}

func (d *decoder) scoped(text string) string {
	if d.space == "" {
		return text
	}
	return replace(text, func(template string) (string, bool) {
		name, ok := strings.CutPrefix(template, localPrefix)
		return "${" + localPrefix + d.localName(name) + "}", ok
	})
}

// ownLocal is the name of a local in a template, as this file has it. In the texts of an
// imported file stand locals of its importer, too: in the values of consts.
func (d *decoder) ownLocal(template string) (name string, ok bool) {
	name, ok = strings.CutPrefix(template, localPrefix+d.space)
	return name, ok && !strings.Contains(name, ".")
}

// localOf finds the local that a template of this file names, in a scope of the file or in an
// importer's.
func (d *decoder) localOf(template string, in *scope) *local {
	if name, ok := d.ownLocal(template); ok {
		return in.find(name)
	}
	if up := d.importer(); up != nil {
		return up.localOf(template, &up.locals)
	}
	return nil
}

// checkLocals looks at every use of a local, and at the locals.
func (d *decoder) checkLocals() {
	d.useLocals(d.given, &d.locals)
	for _, c := range d.commands {
		d.useLocals(c.uses, &d.locals)
	}

	runs := map[string][]*scope{} // where agents run
	for _, p := range d.pipelines {
		d.useLocals(p.uses, &p.locals)
		for _, s := range p.Steps {
			if s.Run.Agent != "" {
				runs[s.Run.Agent] = append(runs[s.Run.Agent], &p.locals)
			}
		}
	}
	for _, c := range d.commands {
		if c.Run.Agent != "" {
			runs[c.Run.Agent] = append(runs[c.Run.Agent], &d.locals)
		}
	}

	for _, a := range d.agents {
		d.agentLocals(a, runs[a.Name])
	}

	for _, s := range d.scopes() {
		for _, l := range s.locals {
			if !l.used && d.Count == 0 {
				d.style(l.at, "local "+quote(l.name)+" is not used", "use it as ${"+localPrefix+l.name+"}, or remove it")
			}
		}
	}
}

// scopes are the file's and its pipelines'.
func (d *decoder) scopes() []*scope {
	all := []*scope{&d.locals}
	for _, p := range d.pipelines {
		all = append(all, &p.locals)
	}
	return all
}

// agentLocals looks at the locals of an agent's texts, in everything that runs it. Of one that
// nothing in this file runs, any pipeline's may be meant.
func (d *decoder) agentLocals(a *agentDraft, runs []*scope) {
	if len(runs) > 0 {
		for _, s := range runs {
			d.useLocals(a.uses, s)
		}
		return
	}
	all := &scope{outer: &d.locals}
	for _, p := range d.pipelines {
		all.locals = append(all.locals, p.locals.locals...)
	}
	d.useLocals(a.uses, all)
}

// useLocals looks for the locals that templates name.
func (d *decoder) useLocals(uses []use, in *scope) {
	for _, u := range uses {
		for _, template := range u.names {
			name, ok := d.ownLocal(template)
			if !ok || d.Overflows() {
				continue
			}
			if l := in.find(name); l != nil {
				l.used = true
				d.flatten(l, nil)
				continue
			}
			d.noLocal(name, u.at, in)
		}
	}
}

func (d *decoder) noLocal(name string, at span, in *scope) {
	hint := document.OrValid("local", name, in.names())
	if hint == "" {
		hint = "define it in locals, of the file or of the pipeline"
	}
	d.fault(d.inside(at, "${"+localPrefix+name+"}"), "there is no local "+quote(name), hint)
}

// flatten puts other locals into the text of one.
func (d *decoder) flatten(l *local, chain []*local) {
	if i := slices.Index(chain, l); i >= 0 {
		last := chain[len(chain)-1]
		d.fault(last.at, "local "+quote(last.name)+" depends on itself: "+d.localCycle(chain[i:]), "")
		l.flat = true
		return
	}
	if l.flat {
		return
	}

	chain = append(chain, l)
	text, size := l.text, len(l.text)
	l.text = replace(text, func(template string) (string, bool) {
		name, ok := d.ownLocal(template)
		if !ok {
			d.knownAtStart(template, l)
			return "", false
		}
		other := l.scope.find(name)
		if other == nil {
			d.noLocal(name, l.node, l.scope)
			return "", false
		}
		other.used = true
		d.flatten(other, chain)
		if size += len(other.text); size > maxText {
			return "", false
		}
		return other.text, true
	})

	if size > maxText {
		d.fault(l.at, "local "+quote(l.name)+" "+unfit(strings.Repeat(" ", maxText+1)), "")
	}
	l.flat = true
	d.noCommands(l)
}

func (d *decoder) localCycle(chain []*local) string {
	var b strings.Builder
	for _, l := range append(slices.Clone(chain), chain[0]) {
		if b.Len() > 0 {
			b.WriteString(" → ")
		}
		b.WriteString(l.name + " (" + d.place(l.at) + ")")
	}
	return b.String()
}

// atStart are the templates, beside ${var.NAME}, whose values never change.
func atStart() []string {
	return []string{"name", "pipeline_id", "agent_run_id", "project", "invoke.dir"}
}

// knownAtStart finds a template in a local whose value is not known when something is started.
func (d *decoder) knownAtStart(template string, l *local) {
	prefix, _, dotted := strings.Cut(template, ".")
	switch {
	case strings.HasPrefix(template, "var.") || slices.Contains(atStart(), template) || dotted && prefix == "workspace":
		return
	case strings.HasPrefix(template, constPrefix): // has its own fault, or a warning
		return
	}
	shown := "${" + template + "}"
	if strings.HasPrefix(template, localPrefix) {
		d.fault(l.at, "local "+quote(l.name)+" contains "+shown+" of the importer, through a const", "use the const where the local is used")
		return
	}
	d.fault(d.inside(l.node, shown), shown+" is not known at the start, when locals get their values",
		"a local knows: ${var.NAME}, ${local.NAME}, ${"+strings.Join(atStart(), "}, ${")+"}")
}

// noCommands finds the shell's substitution in a local, which is text and runs nothing.
func (d *decoder) noCommands(l *local) {
	if !strings.Contains(l.text, "$(") {
		return
	}
	message := "local " + quote(l.name) + " is text: $(…) in it is not run"
	if d.oddjobs {
		d.fault(d.inside(l.node, "$("), message, localCommand(l.text))
		return
	}
	d.warn(d.inside(l.node, "$("), message, "run the command in the step that needs its output")
}

// localsOf are the texts of a scope by the names that templates have for them.
func (d *decoder) localsOf(s *scope) map[string]string {
	var all map[string]string
	for _, l := range s.locals {
		all = with(all, map[string]string{d.localName(l.name): l.text})
	}
	return all
}

// allLocals are the file's own locals and those of the files that it imports.
func (d *decoder) allLocals() map[string]string {
	all := d.localsOf(&d.locals)
	for _, i := range d.imports {
		if inner := i.decoder.allLocals(); len(inner) > 0 {
			all = with(all, inner)
		}
	}
	return all
}
