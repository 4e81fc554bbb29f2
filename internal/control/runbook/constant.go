package runbook

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// A const is a value that a file leaves to its importer. It is put in when the file is
// read, before anything else is looked at: what is checked and what runs is the text with it.

// constPrefix begins the name of a const in a template.
const constPrefix = "const."

// constant is a const of a file.
type constant struct {
	name     string
	at       span  // of its name
	value    *node // what the importer gives, else the default; nil without either
	resolved bool  // other consts are put into the value
	used     bool
}

// constFields are the fields of one const.
func constFields(c *constant) []field {
	return []field{
		{Name: "default", Read: func(v value) {
			if isConstant(v) {
				c.value = nodeOf(v)
			}
		}, Type: constantSchema, Says: "The value where the importer gives none. Without it, the importer must give one."},
		document.Key("description", new(string), text, "A description in one line."),
	}
}

// constField is where the consts stand; constants has read them before.
func (d *decoder) constField() field {
	return field{Name: "const", Read: func(value) {}, Type: func() schema {
		one := document.AnyOf(constantSchema(), document.Ref("const")())
		return schema{"type": "object", "propertyNames": nameSchema(), "additionalProperties": one}
	}, Says: "Values that an importer gives, used as ${const.NAME}."}
}

func constantSchema() schema {
	return schema{"type": []string{"string", "number", "boolean"}}
}

// isConstant reports whether a value is text, a number, or true or false.
func isConstant(v value) bool {
	switch v.Node.Kind() {
	case document.Text, document.Integer, document.Float, document.Boolean:
		return true
	case document.Broken:
		return false
	}
	v.WrongType("text, a number, or true or false", "")
	return false
}

// constants reads the consts of a file, takes the importer's values, and puts them into the
// tree.
func (d *decoder) constants(tree *node) {
	if e := tree.get("const"); e != nil {
		d.readConstants(value{Source: d.Source, Name: e.key, Key: mark{d.source, e.at}, Node: placed{d.source, e.node}})
	}
	d.giveConstants()
	for _, e := range tree.entries {
		if e.key != "const" {
			d.putConstants(e.node)
		}
	}
}

func (d *decoder) readConstants(v value) {
	entries, _ := v.Entries()
	for _, e := range entries {
		c := &constant{name: e.Name, at: keyOf(e)}
		ok := d.checkName(c.name, e.Key)
		if e.Node.Kind() == document.Mapping {
			ok = e.Mapping(constFields(c)...) && ok
		} else if ok = isConstant(e) && ok; ok {
			c.value = nodeOf(e)
		}
		if ok {
			d.consts = append(d.consts, c)
		}
	}
}

func (d *decoder) constant(name string) *constant {
	i := slices.IndexFunc(d.consts, func(c *constant) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return d.consts[i]
}

// giveConstants takes the values of the import that the file is read for. Values that are
// missing there are the importer's fault.
func (d *decoder) giveConstants() {
	if d.from == nil {
		return
	}
	for _, given := range d.from.consts {
		c := d.constant(given.name)
		if c == nil {
			d.from.fault(given.at, d.from.shown()+" has no const "+quote(given.name), document.OrValid("const", given.name, d.constNames()))
			continue
		}
		c.value, c.resolved = given.value, true
	}
	for _, c := range d.consts {
		if c.value == nil {
			d.from.fault(d.from.at, d.from.shown()+" needs a value of const "+quote(c.name)+" ("+d.place(c.at)+")",
				"add const = { "+c.name+" = \"…\" } to the import")
		}
	}
}

func (d *decoder) constNames() []string {
	return names(d.consts, func(c *constant) string { return c.name })
}

// putConstants puts values in for the consts of all texts below a node.
func (d *decoder) putConstants(n *node) {
	if n.kind == document.Text {
		d.putInto(n)
	}
	for _, item := range n.items {
		d.putConstants(item)
	}
	for _, e := range n.entries {
		d.putConstants(e.node)
	}
}

// putInto puts values into one text. A text that is nothing but a const becomes what that
// is: a number stays a number.
func (d *decoder) putInto(n *node) {
	if name, ok := strings.CutPrefix(templateAt(n.text), constPrefix); ok && n.text == "${"+constPrefix+name+"}" {
		if c := d.known(name, n.at); c != nil && c.value != nil {
			n.kind, n.text = c.value.kind, c.value.text
		} else {
			n.kind = document.Broken
		}
		return
	}
	n.text = d.withConstants(n.text, n.at)
}

// withConstants is a text with the values of its consts.
func (d *decoder) withConstants(text string, at span) string {
	if !strings.Contains(text, "${"+constPrefix) {
		return text
	}
	size := len(text)
	return replace(text, func(template string) (string, bool) {
		name, ok := strings.CutPrefix(template, constPrefix)
		if !ok || size > maxText {
			return "", false
		}
		c := d.known(name, at)
		if c == nil || c.value == nil {
			return "", false
		}
		if size += len(c.value.text); size > maxText {
			d.fault(d.inside(at, "${"+template+"}"), "the text with its consts is longer than "+strconv.Itoa(maxText>>10)+" KiB", "")
			return "", false
		}
		return c.value.text, true
	})
}

// known is a const by its name, with other consts put into its value. That there is none is a
// fault.
func (d *decoder) known(name string, at span) *constant {
	c := d.constant(name)
	if c == nil {
		hint := document.OrValid("const", name, d.constNames())
		if hint == "" {
			hint = "define it: const \"" + name + "\" { default = \"…\" }, or in TOML [const." + name + "]"
		}
		d.fault(d.inside(at, "${"+constPrefix+name+"}"), "there is no const "+quote(name), hint)
		return nil
	}
	c.used = true
	d.resolve(c, nil)
	return c
}

// resolve puts other consts into the default of one.
func (d *decoder) resolve(c *constant, chain []*constant) {
	if i := slices.Index(chain, c); i >= 0 {
		last := chain[len(chain)-1]
		d.fault(last.at, "const "+quote(last.name)+" depends on itself: "+d.cycle(chain[i:]), "")
		c.resolved = true
		return
	}
	if c.resolved || c.value == nil || c.value.kind != document.Text {
		return
	}
	chain = append(chain, c)
	for _, name := range Names(c.value.text) {
		if other := d.constant(strings.TrimPrefix(name, constPrefix)); other != nil && strings.HasPrefix(name, constPrefix) {
			d.resolve(other, chain)
		}
	}
	if !c.resolved {
		c.resolved = true
		value := *c.value
		d.putInto(&value)
		c.value = &value
	}
}

// cycle is consts that need each other, with their lines.
func (d *decoder) cycle(chain []*constant) string {
	var b strings.Builder
	for _, c := range append(chain, chain[0]) {
		if b.Len() > 0 {
			b.WriteString(" → ")
		}
		b.WriteString(c.name + " (" + d.place(c.at) + ")")
	}
	return b.String()
}

// checkConstants finds consts without a use.
func (d *decoder) checkConstants() {
	for _, c := range d.consts {
		if !c.used {
			d.style(c.at, "const "+quote(c.name)+" is not used", "use it as ${"+constPrefix+c.name+"}, or remove it")
		}
	}
}

// missing are the consts that nothing gives a value.
func (d *decoder) missing() (all []*constant) {
	for _, c := range d.consts {
		if c.value == nil {
			all = append(all, c)
		}
	}
	return all
}
