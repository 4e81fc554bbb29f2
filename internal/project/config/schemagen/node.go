package main

import "maps"

// node is a JSON Schema.
type node map[string]any

// says returns the schema with a description.
func (n node) says(text string) node { return n.with("description", text) }

func (n node) byDefault(value any) node { return n.with("default", value) }

func (n node) with(key string, value any) node {
	out := maps.Clone(n)
	out[key] = value
	return out
}

// keys are the properties of a mapping.
type keys map[string]node

// mapping has these keys and no others. Like a list it may be empty or, as when
// all of it is commented out, null.
func mapping(properties keys, required ...string) node {
	n := node{
		"type":                 []string{"object", "null"},
		"properties":           properties,
		"additionalProperties": false,
	}
	if len(required) > 0 {
		n["type"], n["required"] = "object", required
	}
	return n
}

func list(items node) node { return node{"type": []string{"array", "null"}, "items": items} }

func some(items node) node { return node{"type": "array", "items": items, "minItems": 1} }

func together(all ...keys) keys {
	out := keys{}
	for _, part := range all {
		maps.Copy(out, part)
	}
	return out
}

func boolean() node { return node{"type": "boolean"} }

func text() node { return node{"type": "string"} }

// notBlank matches text with something other than white space in it, in the
// sense of strings.TrimSpace. \s alone leaves out U+0085, \v and Unicode's
// spaces.
func notBlank() node { return text().with("pattern", `[^\s\v\x85\p{Z}]`) }

func notEmpty() node { return text().with("minLength", 1) }

func oneOf[T ~string](words ...T) node { return node{"enum": words} }

func integer(least int) node { return node{"type": "integer", "minimum": least} }

func integers(least, most int) node { return integer(least).with("maximum", most) }

// duration is what time.ParseDuration reads.
func duration() node {
	return text().with("pattern", `^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)
}

// seconds is a duration or a number of seconds, up to a day.
func seconds() node {
	const day = 24 * 60 * 60
	return node{"anyOf": []node{duration(), {"type": "number", "exclusiveMinimum": 0, "maximum": day}}}
}

// size is a number of bytes, or one with a unit.
func size() node {
	return node{"anyOf": []node{text().with("pattern", `^\s*\+?[0-9]+\s*(KiB|MiB|GiB)$`), integer(1)}}
}
