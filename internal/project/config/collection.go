package config

import "github.com/stopgate/stopgate/internal/project/document"

// section reads a mapping by the fields of its destination. Like a list it may be empty
// or, as when all of it is commented out, null.
func section[T any](fields func(*T) []field) typeOf[T] {
	t := document.Object(fields)
	return t.As(func() schema { return orNull(t.Schema()) })
}

// orNull is the schema of a mapping that may be null, unless it needs a key.
func orNull(s schema) schema {
	if s["required"] == nil {
		s["type"] = []string{"object", "null"}
	}
	return s
}

// listOf reads a list, each entry of it as t.
func listOf[T any](t typeOf[T]) typeOf[[]T] {
	return document.ListOf(t, "").With("type", []string{"array", "null"})
}

// someOf is listOf for a list that must not be empty.
func someOf[T any](t typeOf[T]) typeOf[[]T] {
	return document.New(func(v value, to *[]T) bool {
		items, ok := v.List("")
		if ok && len(items) == 0 {
			v.Fault("must have at least one entry", "")
		}
		document.ReadAll(items, to, t)
		return ok
	}, func() schema { return schema{"type": "array", "items": t.Schema(), "minItems": 1} })
}
