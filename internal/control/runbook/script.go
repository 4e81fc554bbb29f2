package runbook

import (
	"slices"
	"strings"
)

// checkScripts warns of templates that a shell would hardly see as they were meant.
func (d *decoder) checkScripts() {
	for _, u := range d.allUses() {
		for _, name := range unquoted(u.shell) {
			template := "${" + name + "}"
			d.warn(d.inside(u.at, template), template+" stands outside of double quotes: the shell takes its value apart", `write "`+template+`"`)
		}
		for _, name := range assigned(u.shell) {
			template := "${" + name + "}"
			if slices.Contains(u.names, name) {
				d.warn(d.inside(u.at, template), template+" is a template: what the script gives "+name+" is not seen in it", "write $"+name+" for the shell's own")
			}
		}
	}
}

// unquoted are the names of templates with other people's words that stand outside of
// double quotes. Of scripts in which that is hard to tell it finds none.
func unquoted(script string) (names []string) {
	if strings.Contains(script, "<<") || strings.Contains(script, "$(") || strings.Contains(script, "`") {
		return nil
	}
	var quote byte
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == '#' && (i == 0 || strings.IndexByte(" \t\n;", script[i-1]) >= 0):
			line, _, _ := strings.Cut(script[i:], "\n")
			i += len(line) - 1
		case quote != '"' && c == '$':
			if name := templateAt(script[i:]); name == "prompt" || strings.HasPrefix(name, "var.") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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
