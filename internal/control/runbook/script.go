package runbook

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// checkScripts finds templates that a shell would not see as they were meant.
func (d *decoder) checkScripts() {
	for _, u := range d.allUses() {
		for _, e := range exposed(u.shell, u.item) {
			name, template := e.name, "${"+e.name+"}"
			hint := `write "` + template + `"`
			if variable, is := strings.CutPrefix(name, "var."); is {
				hint += `, or "$` + VarVariable(variable) + `"`
			}
			d.style(d.insideNth(u.at, template, e.nth), template+" is not in double quotes, so the shell may run what its value says", hint)
		}
		for _, name := range assigned(u.shell) {
			template := "${" + name + "}"
			if slices.Contains(u.names, name) {
				d.warn(d.inside(u.at, template), template+" is a template: it does not see the value that the script assigns to "+name, "write $"+name+" for the shell variable")
			}
		}
	}
}

// exposure is a template in a script.
type exposure struct {
	name string
	nth  int // of that name
}

// exposed are the templates with other people's words that a shell would not take as text: all
// that do not stand between double quotes, also those in a here-document, in a comment and in a
// script that cannot be read.
func exposed(script string, item bool) (found []exposure) {
	const marker = "stopgate_template_"
	var all []exposure
	times := map[string]int{}
	marked := replace(script, func(name string) (string, bool) {
		if harmless(name) && !(item && isItem(name)) {
			return "x", strings.Contains(name, ".") // which no shell could read
		}
		all = append(all, exposure{name, times[name]})
		times[name]++
		return "${" + marker + strconv.Itoa(len(all)-1) + "}", true
	})
	if len(all) == 0 {
		return nil
	}
	quoted := quotedVariables(marked)
	for i, e := range all {
		if !slices.Contains(quoted, marker+strconv.Itoa(i)) {
			found = append(found, e)
		}
	}
	return found
}

// isItem reports whether a template stands for an item of for_each, or for a part of it.
func isItem(name string) bool { return name == "item" || strings.HasPrefix(name, "item.") }

// harmless reports whether the value of a template is an id or a name of the runbook, or the name
// is none of ours.
func harmless(name string) bool {
	switch {
	case name == "prompt", strings.HasPrefix(name, "var."), strings.HasPrefix(name, "steps."), strings.HasPrefix(name, localPrefix), strings.HasPrefix(name, "workspace."):
		return false
	case name == "error", name == "project", name == "invoke.dir":
		return false
	}
	return true
}

// quotedVariables are the variables that a script expands between double quotes, each as often as it
// does. There are none in a script that cannot be read.
func quotedVariables(script string) []string {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	q := quotes{bare: map[syntax.Node]bool{}}
	syntax.Walk(file, q.visit)
	return q.variables
}

// quotes follows the double quotes of a script.
type quotes struct {
	open      []bool               // for each node that we are in: between double quotes
	bare      map[syntax.Node]bool // the texts of here-documents
	variables []string
}

func (q *quotes) visit(node syntax.Node) bool {
	if node == nil {
		q.open = q.open[:len(q.open)-1]
		return true
	}
	inside := len(q.open) > 0 && q.open[len(q.open)-1]
	switch n := node.(type) {
	case *syntax.DblQuoted:
		inside = true
	case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
		inside = false
	case *syntax.Redirect:
		if n.Hdoc != nil {
			q.bare[n.Hdoc] = true
		}
	case *syntax.ParamExp:
		if inside && n.Param != nil {
			q.variables = append(q.variables, n.Param.Value)
		}
	}
	q.open = append(q.open, inside && !q.bare[node])
	return true
}

// templateAt is the name of the template that a text begins with, or "".
func templateAt(text string) string {
	rest, ok := strings.CutPrefix(text, "${")
	name, _, ends := strings.Cut(rest, "}")
	if !ok || !ends || strings.Trim(name, nameLetters+".") != "" {
		return ""
	}
	return name
}

// assigned are the names of templates that a script has variables of.
func assigned(script string) (names []string) {
	words := strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()", r) })
	for i, word := range words {
		name, _, assigns := strings.Cut(word, "=")
		if i > 0 && (words[i-1] == "for" || words[i-1] == "read") {
			assigns = true
		}
		if assigns && slices.Contains(Templates(), name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
