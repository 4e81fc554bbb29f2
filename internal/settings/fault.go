package settings

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Fault is something of the wrong type, for which the client drops the file.
type Fault struct {
	Path         string // in the document: hooks.Stop[0].hooks[1].timeout
	Line, Column int
	Text         string // must be a number, is a string
}

func (f Fault) String() string {
	return fmt.Sprintf("%d:%d: %s %s", f.Line, f.Column, f.Path, f.Text)
}

func (d *document) faults(scope Scope) []Fault {
	i := &inspector{doc: d}
	if scope == Managed {
		managedFile()(i, &d.root, "")
	} else {
		settingsFile()(i, &d.root, "")
	}
	return i.faults
}

type inspector struct {
	doc    *document
	faults []Fault
}

func (i *inspector) fault(v *hujson.Value, at, text string) {
	line, column := i.doc.position(v.StartOffset)
	i.faults = append(i.faults, Fault{Path: at, Line: line, Column: column, Text: text})
}

// rule checks the value v at a path of the document.
type rule func(i *inspector, v *hujson.Value, at string)

// The rules are functions, not variables: building them at the start of every
// hook's process would cost it 20 µs.

func aString(i *inspector, v *hujson.Value, at string)  { i.kind(v, at, "a string", '"') }
func aBoolean(i *inspector, v *hujson.Value, at string) { i.kind(v, at, "a boolean", 't', 'f') }
func aNumber(i *inspector, v *hujson.Value, at string)  { i.kind(v, at, "a number", '0') }
func anObject(i *inspector, v *hujson.Value, at string) { i.kind(v, at, "an object", '{') }
func anArray(i *inspector, v *hujson.Value, at string)  { i.kind(v, at, "an array", '[') }

func (i *inspector) kind(v *hujson.Value, at, what string, allowed ...hujson.Kind) {
	if !slices.Contains(allowed, kindOf(v)) {
		i.fault(v, at, mustBe(what, v))
	}
}

// both goes on to the second rule only when the first holds.
func both(first, second rule) rule {
	return func(i *inspector, v *hujson.Value, at string) {
		before := len(i.faults)
		if first(i, v, at); len(i.faults) == before {
			second(i, v, at)
		}
	}
}

func holds(condition string, ok func(v *hujson.Value) bool) rule {
	return func(i *inspector, v *hujson.Value, at string) {
		if !ok(v) {
			i.fault(v, at, "must be "+condition)
		}
	}
}

func oneOf(names ...string) rule {
	return both(aString, holds("one of "+strings.Join(names, ", "), func(v *hujson.Value) bool {
		return slices.Contains(names, stringOf(v))
	}))
}

func listOf(element rule) rule {
	return both(anArray, func(i *inspector, v *hujson.Value, at string) {
		a, _ := arrayOf(v)
		for n := range a.Elements {
			element(i, &a.Elements[n], fmt.Sprintf("%s[%d]", at, n))
		}
	})
}

// each checks the members whose name is wanted.
func each(wanted func(name string) bool, value rule) rule {
	return func(i *inspector, v *hujson.Value, at string) {
		o, _ := objectOf(v)
		for name, m := range members(o) {
			if wanted(name) {
				value(i, m, join(at, name))
			}
		}
	}
}

// fields checks the members that it knows; others may be there. Names after the
// rules must be present.
func fields(rules map[string]rule, required ...string) rule {
	return both(anObject, func(i *inspector, v *hujson.Value, at string) {
		o, _ := objectOf(v)
		for _, name := range required {
			if member(o, name) == nil {
				i.fault(v, join(at, name), "is missing")
			}
		}
		for name, m := range members(o) {
			if check, ok := rules[name]; ok {
				check(i, m, join(at, name))
			}
		}
	})
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func mustBe(what string, v *hujson.Value) string {
	is := map[hujson.Kind]string{
		'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string",
		'0': "a number", '{': "an object", '[': "an array",
	}
	return fmt.Sprintf("must be %s, is %s", what, is[kindOf(v)])
}

func positive(v *hujson.Value) bool {
	n := numberOf(v)
	return n > 0 && n <= math.MaxFloat64
}

func wholeDays(v *hujson.Value) bool {
	n := numberOf(v)
	return n >= 1 && n == math.Trunc(n)
}

func address(v *hujson.Value) bool {
	u, err := url.Parse(stringOf(v))
	return err == nil && u.Scheme != ""
}
