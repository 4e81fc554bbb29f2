package runbook

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/project/config"
)

// maxText is the longest text that can be handed to a program, which on Linux takes no
// argument and no variable of 128 KiB or more; templates in it may still grow.
const maxText = 100 << 10

// value is a node under the name that it has in messages.
type value struct {
	d    *decoder
	name string
	key  span
	node *node
}

// field is one that a table may have.
type field struct {
	key      string
	required bool
	read     func(value)
}

// table reads a table whose fields are known.
func (v value) table(fields ...field) bool {
	if !v.is(tableKind, "") {
		return false
	}
	valid := make([]string, len(fields))
	for i, f := range fields {
		valid[i] = f.key
	}
	present := make([]string, 0, len(fields))
	for _, e := range v.node.entries {
		if i := slices.Index(valid, e.key); i >= 0 {
			present = append(present, e.key)
			fields[i].read(value{v.d, e.key, e.at, e.node})
			continue
		}
		v.d.unknown("field", e.key, e.at, valid)
		// A field that was misspelt is one fault, not a missing one as well.
		present = append(present, config.Suggest(e.key, valid))
	}
	for _, f := range fields {
		if f.required && !slices.Contains(present, f.key) {
			v.d.fault(v.key, f.key+" is missing", "")
		}
	}
	return true
}

// is reports whether the value is of a kind, and records that it is not.
func (v value) is(k kind, hint string) bool {
	if v.node.kind != k && v.node.kind != brokenKind {
		v.d.fault(v.node.at, v.name+" must be "+k.String()+", not "+v.node.kind.String(), hint)
	}
	return v.node.kind == k
}

func (v value) fault(message, hint string) { v.d.fault(v.node.at, message, hint) }

// unknown records a word that is none of the valid ones.
func (d *decoder) unknown(what, word string, at span, valid []string) {
	d.fault(at, "unknown "+what+" "+quote(word), orValid(what, word, valid))
}

// orValid is a hint at the word that was meant, or else at all that there are.
func orValid(what, word string, valid []string) string {
	if meant := config.Suggest(word, valid); meant != "" {
		return "did you mean " + strconv.Quote(meant) + "?"
	}
	if len(valid) == 0 {
		return ""
	}
	return "valid " + what + "s: " + strings.Join(valid, ", ")
}

// text reads text that says something.
func (v value) text(to *string) bool {
	if !v.is(textKind, "") {
		return false
	}
	text := v.node.text
	if message := unfit(text); message != "" {
		v.fault(v.name+" "+message, "")
		return false
	}
	if strings.TrimSpace(text) == "" {
		v.fault(v.name+" is empty", "")
		return false
	}
	*to = text
	return true
}

// unfit says why a text cannot be handed to a program, or "".
func unfit(text string) string {
	switch {
	case len(text) > maxText:
		return "is longer than " + strconv.Itoa(maxText>>10) + " KiB"
	case strings.ContainsRune(text, 0):
		return "holds a NUL"
	case !utf8.ValidString(text):
		return "is not UTF-8"
	}
	return ""
}

// words reads a template that people or agents read, script one that a shell does.
func (v value) words(to *string) bool { return v.text(to) && v.use(*to, "") }

func (v value) script(to *string) bool { return v.text(to) && v.use(*to, *to) }

// use remembers a template, whose names are looked at when all of them are known.
func (v value) use(text, shell string) bool {
	names := namesIn(text)
	slices.Sort(names)
	v.d.uses = append(v.d.uses, use{names: slices.Compact(names), at: v.node.at, shell: shell})
	return true
}

func (v value) boolean(to *bool) bool {
	if !v.is(booleanKind, "") {
		return false
	}
	*to = v.node.text == "true"
	return true
}

// count reads a whole number that is at least 1.
func (v value) count(to *int) {
	number, ok := v.whole()
	switch {
	case ok:
		*to = number
	case v.node.kind != brokenKind:
		v.fault(v.name+" must be a whole number, 1 or more", "")
	}
}

// whole is a number that is at least 1.
func (v value) whole() (int, bool) {
	const most = 1_000_000
	number, err := strconv.ParseInt(strings.ReplaceAll(v.node.text, "_", ""), 10, 32)
	ok := v.node.kind == numberKind && err == nil && number >= 1 && number <= most
	return int(number), ok
}

// oneOf reads a word out of a list of them.
func oneOf[T ~string](v value, what string, to *T, valid ...T) bool {
	if !v.is(textKind, "") {
		return false
	}
	words := make([]string, len(valid))
	for i, word := range valid {
		words[i] = string(word)
	}
	if !slices.Contains(words, v.node.text) {
		v.d.unknown(what, v.node.text, v.node.at, words)
		return false
	}
	*to = T(v.node.text)
	return true
}

// entries reads a table whose keys are names that the runbook gives.
func (v value) entries(read func(value)) {
	if !v.is(tableKind, "") {
		return
	}
	for _, e := range v.node.entries {
		read(value{v.d, e.key, e.at, e.node})
	}
}

// list reads a list.
func (v value) list(hint string, read func(value)) {
	if !v.is(listKind, hint) {
		return
	}
	for i, item := range v.node.items {
		read(value{v.d, "entry " + strconv.Itoa(i+1) + " of " + v.name, item.at, item})
	}
}

// values reads a table of names and texts, which may be empty.
func (v value) values(check func(name string) string, to *map[string]string, read func(value, *string) bool) {
	found := map[string]string{}
	v.entries(func(v value) {
		if message := check(v.name); message != "" {
			v.d.fault(v.key, message, "")
			return
		}
		var text string
		if v.node.kind == textKind && strings.TrimSpace(v.node.text) == "" {
			found[v.name] = v.node.text
		} else if read(v, &text) {
			found[v.name] = text
		}
	})
	if len(found) > 0 {
		*to = found
	}
}

// maxName is longer than any name that a person types.
const maxName = 64

// badName says what is wrong with the name of something, or "".
func badName(name string) string {
	switch {
	case name == "":
		return "a name must not be empty"
	case len(name) > maxName:
		return "a name is longer than " + strconv.Itoa(maxName) + " letters"
	case strings.Trim(name, nameLetters) != "":
		return "the name " + quote(name) + " may hold letters a to z, digits, _ and - only"
	case name[0] == '-':
		return "the name " + quote(name) + " begins like an option"
	}
	return ""
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// checkName records what is wrong with a name.
func (d *decoder) checkName(name string, at span) bool {
	message := badName(name)
	if message != "" {
		d.fault(at, message, "")
	}
	return message == ""
}
