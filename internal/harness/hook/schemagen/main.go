// Command schemagen writes the JSON Schemas of the hook payloads. It runs in
// internal/harness/hook through go generate; a test fails when its output is not
// committed.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/invopop/jsonschema"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// notBlank matches text with something other than white space in it, in the
// sense of strings.TrimSpace. \s alone leaves out U+0085, \v and Unicode's
// spaces.
const notBlank = `[^\s\v\x85\p{Z}]`

func main() {
	dir := "schema"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for _, event := range hook.Typed() {
		text, err := rawjson.Lines(schema(event))
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(event)+".json"), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

func schema(event hook.Event) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Version:     jsonschema.Version,
		Title:       string(event),
		Description: "What Claude Code sends to a " + string(event) + " hook. Unknown fields are allowed: Claude Code adds some in every release.",
		Type:        "object",
		Properties:  jsonschema.NewProperties(),
	}
	for _, f := range hook.Describe(event) {
		property := value(f)
		if f.Name == "hook_event_name" {
			property = &jsonschema.Schema{Const: string(event)}
		}
		s.Properties.Set(f.Name, property)
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

func value(f hook.FieldType) *jsonschema.Schema {
	if f.Value == nil {
		return jsonschema.TrueSchema
	}
	reflector := jsonschema.Reflector{DoNotReference: true, Anonymous: true, AllowAdditionalProperties: true}
	s := reflector.Reflect(f.Value)
	s.Version = ""
	if f.NonBlank {
		s.Pattern = notBlank
	}
	if f.Required {
		return s
	}
	// Claude Code sends null for some fields that it could leave out.
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
}
