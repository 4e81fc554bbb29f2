package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// parseKind reads a file of the kind that a schema is for.
func parseKind(kind string, data []byte) error {
	const name = "config.yml"
	var err error
	switch kind {
	case "project":
		_, err = ParseProject(name, data)
	case "global":
		_, err = ParseGlobal(name, data)
	case "ci":
		_, err = ParseCI(name, data)
	case "check":
		return parseCheck(name, data, newCheck("lint"))
	case "review":
		return parseReviewYAML(name, data, newReview("style", nil))
	}
	return err
}

// asJSON is what an editor's YAML reader makes of a file; nil where there is no
// JSON for it.
func asJSON(t testing.TB, data []byte) any {
	t.Helper()
	var content any
	if decode(newSource("config.yml", data), func(v value) { content = anything(v) }) != nil {
		return nil
	}
	text, err := json.Marshal(content)
	check(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	check(t, err)
	return document
}

func compile(t testing.TB, kind string) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(schemaText(t, kind)))
	check(t, err)
	compiler := jsonschema.NewCompiler()
	check(t, compiler.AddResource(kind+".json", document))
	schema, err := compiler.Compile(kind + ".json")
	check(t, err)
	return schema
}

func schemaText(t testing.TB, kind string) string {
	t.Helper()
	text, err := Schema(kind)
	check(t, err)
	return string(text)
}

func TestCommittedSchemasAreWhatTheGeneratorWrites(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(environtest.Need(t, "go"), "run", "./schemagen", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, kind := range Kinds() {
		fresh, err := os.ReadFile(filepath.Join(dir, kind+".json"))
		check(t, err)
		if diff := cmp.Diff(string(fresh), schemaText(t, kind)); diff != "" {
			t.Errorf("%s is not up to date: run go generate ./internal/project/config (-fresh +committed)\n%s", kind, diff)
		}
	}
	committed, err := filepath.Glob("schema/*.json")
	if err != nil || len(committed) != len(Kinds()) {
		t.Errorf("%d files for %d kinds, %v", len(committed), len(Kinds()), err)
	}
}

// A document is valid to an editor that has the schema exactly when it is valid
// to us.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	for kind, documents := range agreed {
		schema := compile(t, kind)
		check := func(text string, want bool) {
			decoded := parseKind(kind, []byte(text)) == nil
			accepted := schema.Validate(asJSON(t, []byte(text))) == nil
			if decoded != want || accepted != want {
				t.Errorf("%s: want valid %v, decoder says %v, schema %v:\n%s", kind, want, decoded, accepted, text)
			}
		}
		for _, text := range documents.valid {
			check(text, true)
		}
		for _, text := range documents.invalid {
			check(text, false)
		}
	}
}

// A default that the schema gives is what the decoder takes where nothing is
// written.
func TestDefaultsOfTheSchema(t *testing.T) {
	for _, c := range []struct{ kind, pointer, base string }{
		{"project", "", "{%s}"},
		{"project", "properties/cli", "cli: {default_preference: [claude], %s}"},
		{"project", "properties/violations", "violations: {%s}"},
		{"project", "$defs/hook", "hooks: {SubagentStop: [{run: x, %s}]}"},
		{"project", "$defs/check", "entry_points: [{path: ., checks: [{name: x, command: x, %s}]}]"},
		{"project", "$defs/review", "cli: {default_preference: [claude]}\nentry_points: [{path: ., reviews: [{name: x, prompt: x, %s}]}]"},
		{"global", "", "{%s}"},
		{"global", "properties/journal", "journal: {%s}"},
		{"global", "properties/lifecycle", "lifecycle: {%s}"},
		{"global", "properties/notify/properties/projects/items", "notify: {projects: [{path: /a, %s}]}"},
		{"check", "", "{command: x, %s}"},
		{"review", "", "{prompt: x, %s}"},
	} {
		var written []string
		for key, property := range propertiesAt(t, c.kind, c.pointer) {
			if value, ok := property.(map[string]any)["default"]; ok {
				text, _ := json.Marshal(value)
				written = append(written, key+": "+string(text))
			}
		}
		if len(written) == 0 {
			t.Errorf("%s %s has no defaults", c.kind, c.pointer)
		}
		text := strings.ReplaceAll(c.base, "%s", strings.Join(written, ", "))
		if diff := cmp.Diff(result(t, c.kind, strings.ReplaceAll(c.base, "%s", "")), result(t, c.kind, text), drafts, withoutPlaces); diff != "" {
			t.Errorf("%s (-left out +written)\n%s", text, diff)
		}
	}
}

var withoutPlaces = cmp.Options{cmpopts.IgnoreTypes(document.Position{}, document.Fault{})}

func result(t *testing.T, kind, text string) any {
	t.Helper()
	var out any
	var err error
	switch kind {
	case "project":
		out, err = ParseProject(kind, []byte(text))
	case "global":
		out, err = ParseGlobal(kind, []byte(text))
	case "check":
		check := newCheck("x")
		err, out = parseCheck(kind, []byte(text), check), check
	case "review":
		review := newReview("x", nil)
		err, out = parseReviewYAML(kind, []byte(text), review), review
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// Each mapping has the same keys in the schema as in the decoder, which lists
// its keys when it meets one that it does not know.
func TestSchemaHasTheDecodersKeys(t *testing.T) {
	const stranger = "xyzzyxyzzyxyzzy"
	for _, c := range []struct{ kind, document, pointer string }{
		{"project", "{?: 1}", ""},
		{"project", "hooks: {Stop: [{run: x, ?: 1}]}", "$defs/hook"},
		{"project", "cli: {default_preference: [claude], ?: 1}", "properties/cli"},
		{"project", "debug_log: {?: 1}", "properties/debug_log"},
		{"project", "stop_hook: {?: 1}", "properties/stop_hook"},
		{"project", "logging: {?: 1}", "properties/logging"},
		{"project", "logging: {console: {?: 1}}", "properties/logging/properties/console"},
		{"project", "logging: {file: {?: 1}}", "properties/logging/properties/file"},
		{"project", "violations: {?: 1}", "properties/violations"},
		{"project", "entry_points: [{path: ., ?: 1}]", "properties/entry_points/items"},
		{"project", "entry_points: [{path: ., checks: [{name: x, command: x, ?: 1}]}]", "$defs/check"},
		{"project", "cli: {default_preference: [claude]}\nentry_points: [{path: ., reviews: [{name: x, prompt: x, ?: 1}]}]", "$defs/review"},
		{"check", "command: x\n?: 1", ""},
		{"review", "prompt: x\n?: 1", ""},
		{"global", "{?: 1}", ""},
		{"global", "notify: {?: 1}", "properties/notify"},
		{"global", "journal: {?: 1}", "properties/journal"},
		{"global", "stop_hook: {?: 1}", "properties/stop_hook"},
		{"global", "debug_log: {?: 1}", "properties/debug_log"},
		{"global", "supervisor: {?: 1}", "properties/supervisor"},
		{"global", "lifecycle: {?: 1}", "properties/lifecycle"},
		{"global", "terminal: {?: 1}", "properties/terminal"},
		{"global", "notify: {quiet: {from: '01:00', to: '02:00', ?: 1}}", "properties/notify/properties/quiet"},
		{"global", "notify: {projects: [{path: /a, ?: 1}]}", "properties/notify/properties/projects/items"},
		{"global", "prices: [{model: x, input: 1, output: 1, ?: 1}]", "properties/prices/items"},
		{"ci", "{?: 1}", ""},
		{"ci", "setup: [{name: x, run: x, ?: 1}]", "properties/setup/items"},
		{"ci", "checks: [{name: x, ?: 1}]", "properties/checks/items"},
		{"ci", "checks: [{name: x, setup: [{name: x, run: x, ?: 1}]}]", "properties/checks/items/properties/setup/items"},
	} {
		text := strings.ReplaceAll(c.document, "?", stranger)
		faults, ok := parseKind(c.kind, []byte(text)).(*document.Faults)
		if !ok || len(faults.All) != 1 {
			t.Errorf("%s: wanted one fault, got %v", text, faults)
			continue
		}
		want := strings.Split(strings.TrimPrefix(faults.All[0].Hint, "valid keys: "), ", ")
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(propertiesAt(t, c.kind, c.pointer)))); diff != "" {
			t.Errorf("%s %s (-decoder +schema):\n%s", c.kind, c.pointer, diff)
		}
		if compile(t, c.kind).Validate(asJSON(t, []byte(text))) == nil {
			t.Errorf("the schema accepts %s", text)
		}
	}
}

func propertiesAt(t *testing.T, kind, pointer string) map[string]any {
	t.Helper()
	var node map[string]any
	check(t, json.Unmarshal([]byte(schemaText(t, kind)), &node))
	for step := range strings.SplitSeq(pointer, "/") {
		if step != "" {
			node, _ = node[step].(map[string]any)
		}
	}
	properties, _ := node["properties"].(map[string]any)
	return properties
}

func TestNoSchemaForAnUnknownKind(t *testing.T) {
	for _, kind := range []string{"", "nope", "../schema/project"} {
		if _, err := Schema(kind); err == nil {
			t.Errorf("%q has a schema", kind)
		}
	}
}
