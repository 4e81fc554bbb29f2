package config

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// entryDraft is an entry point whose gates were not looked up yet.
type entryDraft struct {
	EntryPoint
	checks  []listed[checkDraft]
	reviews []listed[Review]
}

// listed is an entry under checks or reviews: the name of a gate, or a gate.
type listed[T any] struct {
	name   mention
	inline *T // nil: the gate has a file of its own
}

// readEntryPoints needs to know the programs that the project prefers, because
// a review in it may choose among them.
func readEntryPoints(v value, preference []string) (entries []entryDraft) {
	lines := map[string]int{}
	items, _ := v.list()
	for _, item := range items {
		var e entryDraft
		e.Pos = item.position()
		item.mapping(
			field{key: "path", required: true, read: func(v value) { readPath(v, &e.Path, lines) }},
			field{key: "exclude", read: listOf(&e.Exclude, value.pathPattern)},
			field{key: "checks", read: func(v value) { e.checks = readListed(v, readInlineCheck) }},
			field{key: "reviews", read: func(v value) {
				e.reviews = readListed(v, func(v value) listed[Review] { return readInlineReview(v, preference) })
			}},
		)
		entries = append(entries, e)
	}
	return entries
}

// readPath refuses a path that was on one of the lines before: two entries with
// the same path would write the same logs.
func readPath(v value, to *string, lines map[string]int) {
	if !v.pathPattern(to) {
		return
	}
	if line, again := lines[*to]; again {
		v.fault("there is an entry point "+quote(*to)+" already", "merge it with the one on line "+strconv.Itoa(line))
		return
	}
	lines[*to] = v.span().line
}

// readListed reads the gates of one entry point.
func readListed[T any](v value, inline func(value) listed[T]) (gates []listed[T]) {
	seen := map[string]bool{}
	items, _ := v.list()
	for _, item := range items {
		var gate listed[T]
		switch item.node.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			gate = inline(item)
		default:
			var name string
			if item.command(&name) {
				gate.name = item.mention(name)
			}
		}
		name := gate.name.text
		switch {
		case name == "": // that fault is recorded
		case seen[name]:
			item.fault(quote(name)+" is listed twice", "")
		default:
			seen[name] = true
			gates = append(gates, gate)
		}
	}
	return gates
}

func readInlineCheck(v value) (gate listed[checkDraft]) {
	gate.inline = newCheck("")
	readCheck(v, gate.inline, inlineName(&gate.name))
	gate.inline.Name = gate.name.text
	return gate
}

func readInlineReview(v value, preference []string) (gate listed[Review]) {
	gate.inline = newReview("", preference)
	prompt := newPrompt("")
	readReview(v, gate.inline, prompt, inlineName(&gate.name), prompt.key())
	gate.inline.Name = gate.name.text
	return gate
}
