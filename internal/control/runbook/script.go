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
			what := " is not in double quotes, so the shell may run what its value says"
			if e.backquoted {
				what, hint = " is between backquotes, where the shell may run what its value says", "write $( ) instead of the backquotes"
			}
			d.style(d.insideNth(u.at, template, e.nth), template+what, hint)
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
	name       string
	nth        int  // of that name
	backquoted bool // in a command between backquotes
}

// exposed are the templates with other people's words that a shell would not take as text: all
// that do not stand between double quotes, also those in a here-document, in a comment and in a
// script that cannot be read; and all between backquotes, where a shell takes away one level of
// backslashes before it reads the command.
func exposed(script string, item bool) (found []exposure) {
	const marker = "stopgate_template_"
	var all []exposure
	times := map[string]int{}

	marked := replace(script, func(name string) (string, bool) {
		if harmless(name) && !(item && isItem(name)) {
			return "x", strings.Contains(name, ".") // which no shell could read
		}
		all = append(all, exposure{name: name, nth: times[name]})
		times[name]++
		return "${" + marker + strconv.Itoa(len(all)-1) + "}", true
	})
	if len(all) == 0 {
		return nil
	}

	q := quotesOf(marked)
	for i, e := range all {
		variable := marker + strconv.Itoa(i)
		if e.backquoted = slices.Contains(q.backquoted, variable); e.backquoted || !slices.Contains(q.variables, variable) {
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

// quotesOf are the quotes of a script. There are none in a script that cannot be read.
func quotesOf(script string) quotes {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return quotes{}
	}
	q := quotes{bare: map[syntax.Node]bool{}}
	syntax.Walk(file, q.visit)
	return q
}

// within is what a part of a script stands between.
type within struct{ double, back bool }

// quotes follows the double quotes and the backquotes of a script.
type quotes struct {
	open       []within             // for each node that we are in
	bare       map[syntax.Node]bool // the texts of here-documents
	variables  []string             // that are expanded between double quotes, each as often as it is
	backquoted []string             // that are expanded between backquotes
}

func (q *quotes) visit(node syntax.Node) bool {
	if node == nil {
		q.open = q.open[:len(q.open)-1]
		return true
	}

	var in within
	if len(q.open) > 0 {
		in = q.open[len(q.open)-1]
	}

	switch n := node.(type) {
	case *syntax.DblQuoted:
		in.double = true
	case *syntax.CmdSubst:
		in = within{back: in.back || n.Backquotes}
	case *syntax.ProcSubst, *syntax.ArithmExp:
		in.double = false
	case *syntax.Redirect:
		if n.Hdoc != nil {
			q.bare[n.Hdoc] = true
		}
	case *syntax.ParamExp:
		switch {
		case n.Param == nil:
		case in.back:
			q.backquoted = append(q.backquoted, n.Param.Value)
		case in.double:
			q.variables = append(q.variables, n.Param.Value)
		}
	}

	in.double = in.double && !q.bare[node]
	q.open = append(q.open, in)
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
