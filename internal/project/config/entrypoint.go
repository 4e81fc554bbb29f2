package config

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/project/document"
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

// entryPoints reads entry points. It needs to know the programs that the project prefers,
// because a review in it may choose among them.
func entryPoints(preference []string) typeOf[[]entryDraft] {
	lines := map[string]int{}
	return listOf(document.New(func(v value, to *entryDraft) bool {
		to.Pos = v.Position()
		v.Mapping(to.fields(preference, lines)...)
		return true
	}, func() schema { return document.Properties(new(entryDraft).fields(nil, lines)...) }))
}

// fields are those of an entry point, where lines are those of the paths before it.
func (e *entryDraft) fields(preference []string, lines map[string]int) []field {
	checks := listedGates("check", inlineCheck)
	reviews := listedGates("review", func(v value) listed[Review] { return inlineReview(v, preference) })
	return []field{
		document.Key("path", &e.Path, newPath(lines), "A file or folder in the project, \".\" for all of it, parent/* for each folder in parent, or a pattern.").Needed(),
		document.Key("exclude", &e.Exclude, listOf(pathPattern()), "Paths and patterns to ignore."),
		document.Key("checks", &e.checks, checks, "Names of files in checks/, or inline checks."),
		document.Key("reviews", &e.reviews, reviews, "Names of files in reviews/ or of built-in reviews, or inline reviews."),
	}
}

// newPath refuses a path that was on one of the lines before: two entries with
// the same path would write the same logs.
func newPath(lines map[string]int) typeOf[string] {
	return document.Then(pathPattern(), func(v value, path string) (string, bool) {
		if line, again := lines[path]; again {
			v.Fault("duplicate entry point "+quote(path), "merge it with the one on line "+strconv.Itoa(line))
			return "", false
		}
		lines[path] = v.Span().Line
		return path, true
	})
}

// listedGates reads the gates of one entry point.
func listedGates[T any](kind string, inline func(value) listed[T]) typeOf[[]listed[T]] {
	read := func(v value, to *[]listed[T]) bool {
		seen := map[string]bool{}
		items, ok := v.List("")
		for _, item := range items {
			var gate listed[T]
			if item.Node.Kind() == document.Mapping {
				gate = inline(item)
			} else {
				mentioned(command()).Read(item, &gate.name)
			}

			name := gate.name.text
			switch {
			case name == "": // that fault is recorded
			case seen[name]:
				item.Fault(quote(name)+" is listed twice", "")
			default:
				seen[name] = true
				*to = append(*to, gate)
			}
		}
		return ok
	}

	either := typeOf[T]{Schema: func() schema { return document.AnyOf(document.Words(), document.Ref(kind)()) }}
	return document.New(read, listOf(either).Schema)
}

func inlineCheck(v value) (gate listed[checkDraft]) {
	gate.inline = newCheck("")
	readCheck(v, gate.inline, inlineName(&gate.name))
	gate.inline.Name = gate.name.text
	return gate
}

func inlineReview(v value, preference []string) (gate listed[Review]) {
	gate.inline = newReview("", preference)
	prompt := newPrompt("")
	readReview(v, gate.inline, prompt, inlineName(&gate.name), prompt.key())
	gate.inline.Name = gate.name.text
	return gate
}
