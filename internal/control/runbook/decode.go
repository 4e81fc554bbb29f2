package runbook

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/project/document"
)

type (
	value         = document.Value
	field         = document.Field
	schema        = document.Schema
	typeOf[T any] = document.Type[T]
)

// maxText is the longest text that can be handed to a program, which on Linux takes no
// argument and no variable of 128 KiB or more; templates in it may still grow.
const maxText = 100 << 10

// is reports whether a value is of a kind, and records that it is not.
func is(v value, kind document.Kind, hint string) bool { return v.Is(kind, describe(kind), hint) }

// wrong records what is wrong with a value, in words that name it where that helps.
func wrong(v value, message, hint string) { v.Source.Fault(v.Node, message, hint) }

// anyText is text that can be handed to a program, text one that says something.
var (
	anyText = document.New(readText, document.AnyText)
	text    = document.Then(anyText, func(v value, text string) (string, bool) {
		says := strings.TrimSpace(text) != ""
		if !says {
			v.Fault("is empty", "")
		}
		return text, says
	}).As(document.Words)
)

func readText(v value, to *string) bool {
	if !is(v, document.Text, "") {
		return false
	}
	if message := unfit(v.Node.Text()); message != "" {
		v.Fault(message, "")
		return false
	}
	*to = v.Node.Text()
	return true
}

// unfit says why a text cannot be handed to a program, or "".
func unfit(text string) string {
	switch {
	case len(text) > maxText:
		return "is longer than " + strconv.Itoa(maxText>>10) + " KiB"
	case strings.ContainsRune(text, 0):
		return "contains a NUL byte"
	case !utf8.ValidString(text):
		return "is not UTF-8"
	}
	return ""
}

// words is a template that people or agents read, script one that a shell does.
func (d *decoder) words() typeOf[string] {
	return document.Then(text, func(v value, text string) (string, bool) { return text, d.use(v, text, "") })
}

func (d *decoder) script() typeOf[string] {
	return document.Then(text, func(v value, text string) (string, bool) { return text, d.use(v, text, text) })
}

// use remembers a template, whose names are looked at when all of them are known.
func (d *decoder) use(v value, text, shell string) bool {
	names := Names(text)
	slices.Sort(names)
	d.uses = append(d.uses, use{names: slices.Compact(names), at: nodeOf(v).at, shell: shell})
	return true
}

// most bounds what a runbook counts.
const most = 1_000_000

// count is a whole number that is at least 1.
var count = document.New(
	func(v value, to *int) bool { return readCount(v, to, v.Name+" must be a whole number, 1 or more") },
	func() schema { return document.Whole(1).With("maximum", most) },
)

func readCount(v value, to *int, otherwise string) bool {
	number, err := strconv.ParseInt(v.Node.Text(), 10, 32)
	kind := v.Node.Kind()
	switch {
	case (kind == document.Integer || kind == document.Float) && err == nil && number >= 1 && number <= most:
		*to = int(number)
		return true
	case kind != document.Broken:
		wrong(v, otherwise, "")
	}
	return false
}

// maxDuration is longer than a runbook waits.
const maxDuration = 30 * 24 * time.Hour

var duration = document.New(readDuration, document.Duration)

func readDuration(v value, to *time.Duration) bool {
	const hint = `such as: "30s", "5m", "1h30m"`
	if !is(v, document.Text, hint) {
		return false
	}
	length, err := time.ParseDuration(v.Node.Text())
	switch {
	case err != nil:
		v.Fault(quote(v.Node.Text())+" is not a valid duration", hint)
	case length <= 0 || length > maxDuration:
		v.Fault("must be more than 0 and at most "+strconv.Itoa(int(maxDuration.Hours()))+"h", hint)
	default:
		*to = length
		return true
	}
	return false
}

// oneOf reads a word out of a list of them.
func oneOf[T ~string](what string, valid ...T) typeOf[T] {
	return document.New(func(v value, to *T) bool {
		if !is(v, document.Text, "") {
			return false
		}
		word := T(v.Node.Text())
		if !slices.Contains(valid, word) {
			v.Unknown(what, string(word), v.Node, document.Strings(valid))
			return false
		}
		*to = word
		return true
	}, func() schema { return document.Enum(valid...) })
}

func join[T ~string](words []T) string { return strings.Join(document.Strings(words), ", ") }

// texts reads a table of names and texts, which may be empty.
func texts(bad func(name string) string, names func() schema, t typeOf[string]) typeOf[map[string]string] {
	return document.New(func(v value, to *map[string]string) bool {
		found := map[string]string{}
		entries, ok := v.Entries()
		for _, e := range entries {
			var text string
			switch message := bad(e.Name); {
			case message != "":
				v.Source.Fault(e.Key, message, "")
			case e.Node.Kind() == document.Text && strings.TrimSpace(e.Node.Text()) == "":
				found[e.Name] = e.Node.Text()
			case t.Read(e, &text):
				found[e.Name] = text
			}
		}
		if len(found) > 0 {
			*to = found
		}
		return ok
	}, func() schema {
		return schema{"type": "object", "propertyNames": names(), "additionalProperties": document.AnyText()}
	})
}

// variableList reads names of variables, each once.
func variableList(bad func(name string) string, names func() schema, hint string) typeOf[[]string] {
	return document.New(func(v value, to *[]string) bool {
		items, ok := v.List(hint)
		for _, item := range items {
			name := item.Node.Text()
			switch message := bad(name); {
			case !is(item, document.Text, ""):
			case message != "":
				wrong(item, message, "")
			case slices.Contains(*to, name):
				wrong(item, "duplicate variable "+quote(name), "")
			default:
				*to = append(*to, name)
			}
		}
		return ok
	}, func() schema { return schema{"type": "array", "items": names(), "uniqueItems": true} })
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
		return "the name " + quote(name) + " may only contain letters a to z, digits, _ and -"
	case name[0] == '-':
		return "the name " + quote(name) + " starts like an option"
	}
	return ""
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func nameSchema() schema {
	return document.Matching("^[A-Za-z0-9_][A-Za-z0-9_-]*$").With("maxLength", maxName)
}

// checkName records what is wrong with a name.
func (d *decoder) checkName(name string, at document.Place) bool {
	if d.oddjobs { // whose names have colons in them
		name = strings.ReplaceAll(name, nameSeparator, "-")
	}
	message := badName(name)
	if message != "" {
		d.Fault(at, message, "")
	}
	return message == ""
}
