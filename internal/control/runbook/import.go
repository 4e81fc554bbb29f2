package runbook

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Import is a file that a runbook takes definitions from.
type Import struct {
	File    string `json:"file,omitempty"`    // below the runbooks directory
	Library string `json:"library,omitempty"` // or one that is part of the program
	Version string `json:"version,omitempty"` // of the library
	Alias   string `json:"alias,omitempty"`   // before the names of what it defines
}

// nameSeparator stands between an alias and a name. No name has it.
const nameSeparator = ":"

// maxImports bounds how many files one runbook is made of, each counted as often as it is
// imported.
const maxImports = 100

// origin is where a runbook lies, and what it may read there.
type origin struct {
	dir     string // the runbooks directory, as it is shown
	read    func(name string) ([]byte, error)
	library bool // it is part of the program
	oddjobs bool // it was written for oddjobs
}

// importing is an import while it is read. Faults of the import itself are the importer's.
type importing struct {
	Import
	importer *decoder
	at       span // of what names the file
	consts   []givenConst
	decoder  *decoder // of the file
}

// givenConst is a value for a const of an imported file.
type givenConst struct {
	name  string
	at    span
	value *node
}

func (i *importing) fault(at span, message, hint string) { i.importer.fault(at, message, hint) }

// shown is what messages call the imported file.
func (i *importing) shown() string {
	if i.Library != "" {
		return "library " + quote(i.Library)
	}
	return i.File
}

// prefix stands before the names of what the import defines.
func (i *importing) prefix() string {
	if i.Alias == "" {
		return ""
	}
	return i.Alias + nameSeparator
}

// place is a place for a message about another file.
func (d *decoder) place(at span) string { return d.Name + ":" + strconv.Itoa(d.line(at)) }

// importField reads what a runbook imports, a list.
func (d *decoder) importField() field {
	return field{Name: "import", Read: func(v value) {
		items, _ := v.List(`write [[import]] with file = "…" or library = "…"`)
		for _, item := range items {
			d.readImport(item)
		}
	}, Type: func() schema {
		return schema{"type": "array", "items": document.Ref("import")()}
	}, Says: "Files whose commands, pipelines and agents this one uses."}
}

func (d *decoder) importFields(i *importing) []field {
	return []field{
		{Name: "file", Read: func(v value) { readSource(v, i, &i.File) }, Type: text.Schema, Says: "A file below the runbooks directory."},
		{Name: "library", Read: func(v value) { readSource(v, i, &i.Library) }, Type: func() schema { return document.Enum(Libraries()...) }, Says: "A file that is part of stopgate."},
		{Name: "alias", Read: func(v value) {
			if is(v, document.Text, "") && d.checkName(v.Node.Text(), v) {
				i.Alias = v.Node.Text()
			}
		}, Type: nameSchema, Says: "Stands before the names of what the file defines: ALIAS:NAME."},
		{Name: "const", Read: func(v value) { d.readGiven(v, i) }, Type: func() schema {
			one := document.AnyOf(constantSchema(), document.Properties(field{Name: "value", Required: true, Type: constantSchema}))
			return schema{"type": "object", "propertyNames": nameSchema(), "additionalProperties": one}
		}, Says: "Values for the consts of the file."},
	}
}

// readSource reads what names the file of an import.
func readSource(v value, i *importing, to *string) {
	if text.Read(v, to) {
		i.at = nodeOf(v).at
	}
}

// readGiven reads values for consts: NAME = VALUE, or a table with the value.
func (d *decoder) readGiven(v value, i *importing) {
	entries, _ := v.Entries()
	for _, e := range entries {
		given := givenConst{name: e.Name, at: keyOf(e)}
		read := func(v value) {
			if isConstant(v) {
				given.value = nodeOf(v)
			}
		}
		if e.Node.Kind() == document.Mapping {
			e.Mapping(field{Name: "value", Required: true, Read: read})
		} else {
			read(e)
		}
		if given.value != nil {
			i.consts = append(i.consts, given)
			d.given = append(d.given, use{names: Names(given.value.text), at: given.value.at})
		}
	}
}

func (d *decoder) readImport(v value) {
	i := &importing{importer: d, at: nodeOf(v).at}
	if !v.Mapping(d.importFields(i)...) {
		return
	}
	table := nodeOf(v)
	if (table.get("file") == nil) == (table.get("library") == nil) {
		wrong(v, "an import needs either file or library", `write file = "lib/review.toml", or library = "merge"`)
		return
	}

	from, name, ok := d.target(i)
	if !ok || d.circular(i, from, name) {
		return
	}

	if *d.files++; *d.files > maxImports {
		d.fault(i.at, "more than "+strconv.Itoa(maxImports)+" imports", "")
		return
	}
	d.open(i, from, name)
}

// target is the file that an import names.
func (d *decoder) target(i *importing) (from origin, name string, ok bool) {
	switch {
	case i.Library != "":
		if name, ok = libraryFile(i.Library); !ok {
			d.fault(i.at, "there is no library "+quote(i.Library), noLibrary(i.Library))
			return from, "", false
		}
		i.Version = libraryVersion(name)
		return libraryOrigin(), name, true
	case i.File == "": // a fault says so
		return from, "", false
	case !isBelow(i.File):
		d.fault(i.at, "an imported file must be a path below the runbooks directory, without ..", "such as: lib/review.hcl")
		return from, "", false
	}
	return d.origin, i.File, true
}

// circular finds an import of a file that is being read.
func (d *decoder) circular(i *importing, from origin, name string) bool {
	for at := d; at != nil; at = at.importer() {
		if at.origin.library != from.library || at.name != name {
			continue
		}
		chain := d.place(i.at)
		for up := d; up != at; up = up.importer() {
			chain = up.from.importer.place(up.from.at) + " → " + chain
		}
		d.fault(i.at, "import cycle: "+chain+" → "+at.Name, "move what both files need into a third one")
		return true
	}
	return false
}

// importer is the decoder of the file that imports this one, or nil.
func (d *decoder) importer() *decoder {
	if d.from == nil {
		return nil
	}
	return d.from.importer
}

// open reads the imported file.
func (d *decoder) open(i *importing, from origin, name string) {
	text, err := from.read(name)
	if err != nil {
		d.fault(i.at, "imported file "+quote(name)+" "+document.WhyUnread(err), "paths are relative to the runbooks directory")
		return
	}
	i.decoder = newDecoder(from, name, filepath.Join(from.dir, filepath.FromSlash(name)), text)
	i.decoder.from, i.decoder.files, i.decoder.space = i, d.files, d.space+d.spaceFor(i)+"."
	i.decoder.read()
	d.imports = append(d.imports, i)
}

// spaceFor is a name for the locals of an import that no other import of this file has.
func (d *decoder) spaceFor(i *importing) string {
	base := path.Base(i.Library + i.File)
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(nameLetters, r) {
			return r
		}
		return '-'
	}, strings.TrimSuffix(base, path.Ext(base)))
	if i.Alias != "" {
		name = i.Alias
	}
	return name + "-" + strconv.Itoa(len(d.imports)+1)
}

// isBelow reports whether a path stays below the directory that it is seen from.
func isBelow(name string) bool {
	return filepath.IsLocal(name) && path.Clean(name) == name && !strings.ContainsAny(name, `\:`)
}

// link gives the runbook what its imports define, under the names that it has here. A name
// that is there already is a fault.
func (d *decoder) link() {
	d.imported = shelfOf{map[string]*commandDraft{}, map[string]*pipelineDraft{}, map[string]*agentDraft{}}
	for _, i := range d.imports {
		linkAll(i, "command", i.decoder.allCommands(), d.commands, d.imported.commands)
		linkAll(i, "pipeline", i.decoder.allPipelines(), d.pipelines, d.imported.pipelines)
		linkAll(i, "agent", i.decoder.allAgents(), d.agents, d.imported.agents)
	}
}

// shelfOf is what imports define, by the names that it has here.
type shelfOf struct {
	commands  map[string]*commandDraft
	pipelines map[string]*pipelineDraft
	agents    map[string]*agentDraft
}

// definition is what a file defines under a name.
type definition[D any] interface {
	name() string
	place() string
	// under is a copy as an importer knows it: a prefix stands before its name, and before every
	// name that it refers to.
	under(prefix string) D
}

// linkAll gives the importer what an import defines of a kind, beside its own and what it has imported.
func linkAll[D definition[D]](i *importing, kind string, all, own []D, imported map[string]D) {
	for _, theirs := range all {
		theirs := theirs.under(i.prefix())
		name := theirs.name()
		other, clash := imported[name]
		if at := slices.IndexFunc(own, func(ours D) bool { return ours.name() == name }); at >= 0 {
			other, clash = own[at], true
		}
		if !clash {
			imported[name] = theirs
			continue
		}
		hint := "give the import an alias: alias = \"…\""
		if i.Alias != "" {
			hint = "give the import another alias"
		}
		i.fault(i.at, fmt.Sprintf("%s %s is defined twice: %s and %s", kind, quote(name), other.place(), theirs.place()), hint)
	}
}

func (c *commandDraft) name() string  { return c.Name }
func (p *pipelineDraft) name() string { return p.Name }
func (a *agentDraft) name() string    { return a.Name }

func (c *commandDraft) place() string  { return c.home.place(c.at) }
func (p *pipelineDraft) place() string { return p.home.place(p.at) }
func (a *agentDraft) place() string    { return a.home.place(a.at) }

// importOf is the import that brings a pipeline.
func (d *decoder) importOf(pipeline string) span {
	for _, i := range d.imports {
		for _, p := range i.decoder.allPipelines() {
			if i.prefix()+p.Name == pipeline {
				return i.at
			}
		}
	}
	return span{}
}

func (c *commandDraft) under(prefix string) *commandDraft {
	copied := *c
	copied.Name, copied.Run = prefix+c.Name, c.Run.under(prefix)
	return &copied
}

func (p *pipelineDraft) under(prefix string) *pipelineDraft {
	copied := *p
	copied.Pipeline = p.Pipeline.under(prefix)
	return &copied
}

func (a *agentDraft) under(prefix string) *agentDraft {
	copied := *a
	copied.Name = prefix + a.Name
	return &copied
}

func (p Pipeline) under(prefix string) Pipeline {
	p.Name = prefix + p.Name
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i].Run = p.Steps[i].Run.under(prefix)
	}
	return p
}

// under must know every field that refers to something by its name.
func (r Run) under(prefix string) Run {
	for _, name := range []*string{&r.Agent, &r.Pipeline} {
		if *name != "" {
			*name = prefix + *name
		}
	}
	return r
}

// checkImports warns of imports that nothing uses.
func (d *decoder) checkImports() {
	for _, i := range d.imports {
		prefix := i.prefix()
		uses := func(r Run) bool {
			for _, a := range i.decoder.allAgents() {
				if r.Agent != "" && r.Agent == prefix+a.Name {
					return true
				}
			}
			for _, p := range i.decoder.allPipelines() {
				if r.Pipeline != "" && r.Pipeline == prefix+p.Name {
					return true
				}
			}
			return false
		}

		used := len(i.decoder.allCommands()) > 0
		for _, c := range d.commands {
			used = used || uses(c.Run)
		}
		for _, w := range d.workers {
			used = used || uses(w.Run)
		}
		for _, p := range d.pipelines {
			for _, s := range p.Steps {
				used = used || uses(s.Run)
			}
		}

		if !used {
			d.warn(i.at, "nothing uses what "+i.shown()+" defines", "")
		}
	}
}

// allCommands, allPipelines and allAgents are those of the file and of what it imports.
func (d *decoder) allCommands() []*commandDraft {
	return slices.Concat(d.commands, inOrder(d.imported.commands))
}

func (d *decoder) allPipelines() []*pipelineDraft {
	return slices.Concat(d.pipelines, inOrder(d.imported.pipelines))
}

func (d *decoder) allAgents() []*agentDraft {
	return slices.Concat(d.agents, inOrder(d.imported.agents))
}

func inOrder[T any](of map[string]T) []T {
	var all []T
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, of[name])
	}
	return all
}

// sources are the project's files that the runbook is made of, beside itself.
func (d *decoder) sources() (names []string) {
	for _, i := range d.imports {
		if !i.decoder.origin.library {
			names = append(names, i.decoder.name)
		}
		names = append(names, i.decoder.sources()...)
	}
	return names
}

// allImports are the imports of the file, with those of the imported files under the names
// that they have here.
func (d *decoder) allImports() (all []Import) {
	for _, i := range d.imports {
		all = append(all, i.Import)
		for _, inner := range i.decoder.allImports() {
			inner.Alias = strings.TrimSuffix(i.prefix()+inner.Alias, nameSeparator)
			all = append(all, inner)
		}
	}
	return all
}

// allFaults are the faults of the file and of what it imports.
func (d *decoder) allFaults() Faults {
	all := d.Faults()
	for _, i := range d.imports {
		all = append(all, i.decoder.allFaults()...)
	}
	return all
}

func (d *decoder) allWarnings() Faults {
	all := d.Warnings()
	for _, i := range d.imports {
		if !i.decoder.origin.library {
			all = append(all, i.decoder.allWarnings()...)
		}
	}
	return all
}
