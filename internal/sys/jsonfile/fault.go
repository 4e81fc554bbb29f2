package jsonfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Fault is something in a document that breaks a rule.
type Fault struct {
	Path         string // in the document: hooks.Stop[0].hooks[1].timeout
	Line, Column int
	Text         string // must be a number, is a string
}

func (f Fault) String() string {
	return fmt.Sprintf("%d:%d: %s %s", f.Line, f.Column, f.Path, f.Text)
}

// Check lists everything in the document as it was parsed that breaks the rule.
func (d *Document) Check(rule Rule) []Fault {
	c := &Checker{doc: d}
	rule(c, &d.root, "")
	return c.faults
}

// Checker collects faults.
type Checker struct {
	doc    *Document
	faults []Fault
}

// Fault notes that v, which stands at that path, is wrong.
func (c *Checker) Fault(v *hujson.Value, at, text string) {
	line, column := c.doc.position(v.StartOffset)
	c.faults = append(c.faults, Fault{Path: at, Line: line, Column: column, Text: text})
}

// Rule checks the value v at a path of the document.
type Rule func(c *Checker, v *hujson.Value, at string)

// Whoever puts rules together does so in a function, not in a variable: building
// them at the start of every hook's process would cost it 20 µs.

// String wants a string.
func String(c *Checker, v *hujson.Value, at string) { c.kind(v, at, "a string", '"') }

// Boolean wants true or false.
func Boolean(c *Checker, v *hujson.Value, at string) { c.kind(v, at, "a boolean", 't', 'f') }

// Number wants a number.
func Number(c *Checker, v *hujson.Value, at string) { c.kind(v, at, "a number", '0') }

// Object wants an object.
func Object(c *Checker, v *hujson.Value, at string) { c.kind(v, at, "an object", '{') }

// Array wants an array.
func Array(c *Checker, v *hujson.Value, at string) { c.kind(v, at, "an array", '[') }

func (c *Checker) kind(v *hujson.Value, at, what string, allowed ...hujson.Kind) {
	if !slices.Contains(allowed, KindOf(v)) {
		c.Fault(v, at, MustBe(what, v))
	}
}

// Both goes on to the second rule only when the first holds.
func Both(first, second Rule) Rule {
	return func(c *Checker, v *hujson.Value, at string) {
		before := len(c.faults)
		if first(c, v, at); len(c.faults) == before {
			second(c, v, at)
		}
	}
}

// Holds wants the condition to be true.
func Holds(condition string, ok func(v *hujson.Value) bool) Rule {
	return func(c *Checker, v *hujson.Value, at string) {
		if !ok(v) {
			c.Fault(v, at, "must be "+condition)
		}
	}
}

// OneOf wants one of these strings.
func OneOf(names ...string) Rule {
	return Both(String, Holds("one of "+strings.Join(names, ", "), func(v *hujson.Value) bool {
		return slices.Contains(names, StringOf(v))
	}))
}

// ListOf wants an array and checks each element.
func ListOf(element Rule) Rule {
	return Both(Array, func(c *Checker, v *hujson.Value, at string) {
		a, _ := ArrayOf(v)
		for n := range a.Elements {
			element(c, &a.Elements[n], fmt.Sprintf("%s[%d]", at, n))
		}
	})
}

// Each checks the members whose name is wanted. Anything but an object passes.
func Each(wanted func(name string) bool, value Rule) Rule {
	return func(c *Checker, v *hujson.Value, at string) {
		o, _ := ObjectOf(v)
		for name, m := range Members(o) {
			if wanted(name) {
				value(c, m, join(at, name))
			}
		}
	}
}

// EachMember wants an object and checks every member.
func EachMember(value Rule) Rule {
	return Both(Object, Each(func(string) bool { return true }, value))
}

// Fields wants an object and checks the members that it knows; others may be
// there. Names after the rules must be present.
func Fields(rules map[string]Rule, required ...string) Rule {
	return Both(Object, func(c *Checker, v *hujson.Value, at string) {
		o, _ := ObjectOf(v)
		for _, name := range required {
			if Member(o, name) == nil {
				c.Fault(v, join(at, name), "is missing")
			}
		}
		for name, m := range Members(o) {
			if check, ok := rules[name]; ok {
				check(c, m, join(at, name))
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

// MustBe says what v must be and is.
func MustBe(what string, v *hujson.Value) string {
	is := map[hujson.Kind]string{
		'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string",
		'0': "a number", '{': "an object", '[': "an array",
	}
	return fmt.Sprintf("must be %s, is %s", what, is[KindOf(v)])
}
