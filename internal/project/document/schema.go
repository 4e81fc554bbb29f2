package document

import (
	"maps"
	"os"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Schema is a JSON Schema (2020-12). It cannot say all that a decoder checks: it may
// accept more, never less.
type Schema map[string]any

// Says is the schema with a description.
func (s Schema) Says(text string) Schema {
	if text == "" {
		return s
	}
	return s.With("description", text)
}

// With is the schema with one more keyword.
func (s Schema) With(keyword string, value any) Schema {
	out := maps.Clone(s)
	out[keyword] = value
	return out
}

// Properties describes a mapping that has these keys and no others.
func Properties(fields ...Field) Schema {
	properties, required := map[string]Schema{}, []string(nil)
	for _, f := range fields {
		properties[f.Name] = f.Schema()
		if f.Required {
			required = append(required, f.Name)
		}
	}
	s := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return s
}

// Ref describes what the definition of that name does.
func Ref(name string) func() Schema {
	return func() Schema { return Schema{"$ref": "#/$defs/" + name} }
}

// AnyOf describes a value of several forms.
func AnyOf(forms ...Schema) Schema { return Schema{"anyOf": forms} }

// Enum describes one of a few words.
func Enum[T ~string](words ...T) Schema { return Schema{"enum": words} }

// Whole describes a whole number.
func Whole(least int64) Schema { return Schema{"type": "integer", "minimum": least} }

// AnyText describes any text.
func AnyText() Schema { return Schema{"type": "string"} }

// Words describes text with something other than white space in it, in the sense of
// strings.TrimSpace. \s alone leaves out U+0085, \v and Unicode's spaces.
func Words() Schema { return Matching(`[^\s\v\x85\p{Z}]`) }

// Matching describes text that a pattern matches.
func Matching(pattern string) Schema { return AnyText().With("pattern", pattern) }

// Duration describes what time.ParseDuration reads.
func Duration() Schema {
	return Matching(`^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)
}

// Write writes a file that holds the schema.
func (s Schema) Write(path string) error {
	text, err := rawjson.Lines(s.With("$schema", "https://json-schema.org/draft/2020-12/schema"))
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
