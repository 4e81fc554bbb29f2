package document

import (
	"strconv"
	"strings"
)

// Type reads values of one type, and describes them to editors: one table of fields
// decodes a file and makes its schema.
//
// Read writes to its destination and reports whether it did. After a fault the
// destination is as it was.
type Type[T any] struct {
	Read   func(Value, *T) bool
	Schema func() Schema
}

// New is a type of values.
func New[T any](read func(Value, *T) bool, schema func() Schema) Type[T] {
	return Type[T]{read, schema}
}

// Field is one key that a mapping may have. Tables of them are made at every call of a
// hook, schemas only by a generator.
type Field struct {
	Name     string
	Required bool
	Read     func(Value)
	Type     func() Schema // of its values
	Says     string        // what it is for, to editors

	byDefault any
}

// Key is a field of a type that is read to its destination.
func Key[T any](name string, to *T, t Type[T], says string) Field {
	return Field{Name: name, Read: func(v Value) { t.Read(v, to) }, Type: t.Schema, Says: says}
}

// Schema describes the field.
func (f Field) Schema() Schema {
	s := f.Type().Says(f.Says)
	if f.byDefault != nil {
		s = s.With("default", f.byDefault)
	}
	return s
}

// Needed is the field as one that must be there.
func (f Field) Needed() Field {
	f.Required = true
	return f
}

// Default is the field with what holds where it is left out, for editors.
func (f Field) Default(value any) Field {
	f.byDefault = value
	return f
}

// Kept is the field that also keeps the value as it stands in the file.
func (f Field) Kept(to *Value) Field {
	read := f.Read
	f.Read = func(v Value) {
		*to = v
		read(v)
	}
	return f
}

// As is the type with another schema.
func (t Type[T]) As(schema func() Schema) Type[T] { return Type[T]{t.Read, schema} }

// With is the type with one more keyword in its schema.
func (t Type[T]) With(keyword string, value any) Type[T] {
	return t.As(func() Schema { return t.Schema().With(keyword, value) })
}

// Optional reads a setting that is nil where the file does not say anything.
func Optional[T any](t Type[T]) Type[*T] {
	return Then(t, func(_ Value, setting T) (*T, bool) { return &setting, true })
}

// Then reads a value as t and makes something else of it, or finds fault with it.
func Then[A, B any](t Type[A], convert func(Value, A) (B, bool)) Type[B] {
	return Type[B]{func(v Value, to *B) bool {
		var in A
		if !t.Read(v, &in) {
			return false
		}
		out, ok := convert(v, in)
		if ok {
			*to = out
		}
		return ok
	}, t.Schema}
}

// Object reads a mapping whose keys are known to the fields of its destination.
func Object[T any](fields func(*T) []Field) Type[T] {
	return Type[T]{
		Read:   func(v Value, to *T) bool { return v.Mapping(fields(to)...) },
		Schema: func() Schema { return Properties(fields(new(T))...) },
	}
}

// ListOf reads a list, each entry of it as t.
func ListOf[T any](t Type[T], hint string) Type[[]T] {
	return Type[[]T]{func(v Value, to *[]T) bool {
		items, ok := v.List(hint)
		ReadAll(items, to, t)
		return ok
	}, func() Schema { return Schema{"type": "array", "items": t.Schema()} }}
}

// ReadAll keeps the entries of a list that are valid. Without any, the destination is as it was.
func ReadAll[T any](items []Value, to *[]T, t Type[T]) {
	var valid []T
	for _, item := range items {
		var setting T
		if t.Read(item, &setting) {
			valid = append(valid, setting)
		}
	}
	if len(valid) > 0 {
		*to = valid // a default is replaced, not added to
	}
}

// Flag reads true or false.
var Flag = Type[bool]{readFlag, func() Schema { return Schema{"type": "boolean"} }}

func readFlag(v Value, to *bool) bool {
	if !v.Is(Boolean, "true or false", "") {
		return false
	}
	*to = strings.EqualFold(v.Node.Text(), "true")
	return true
}

// Amount reads a number that is above 0, or 0 where that is allowed, and at most most.
func Amount(zero bool, most int) Type[float64] {
	return New(func(v Value, to *float64) bool {
		if kind := v.Node.Kind(); kind != Integer && kind != Float {
			v.WrongType("a number", "")
			return false
		}
		number, err := strconv.ParseFloat(v.Node.Text(), 64)
		switch {
		case err == nil && number <= float64(most) && (number > 0 || zero && number == 0):
			*to = number
			return true
		case zero:
			v.Fault("must be a number from 0 to "+strconv.Itoa(most), "")
		default:
			v.Fault("must be a number above 0 and at most "+strconv.Itoa(most), "")
		}
		return false
	}, func() Schema {
		if zero {
			return Schema{"type": "number", "minimum": 0, "maximum": most}
		}
		return Schema{"type": "number", "exclusiveMinimum": 0, "maximum": most}
	})
}
