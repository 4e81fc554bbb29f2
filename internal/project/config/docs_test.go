package config

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// docs/reference/configuration.md knows every key of every file, and everything that can
// be built in.
func TestEveryKeyIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../../../docs/reference/configuration.md")
	check(t, err)
	page := string(data)
	for _, kind := range Kinds() {
		var schema map[string]any
		check(t, json.Unmarshal([]byte(schemaText(t, kind)), &schema))
		section := sectionOf(t, page, kind)
		for key := range allKeys(schema) {
			named := func(form string) bool { return strings.Contains(section, form) }
			if !named("`"+key+"`") && !named("`"+key+".") && !named("."+key+"`") {
				t.Errorf("%s: %q is not in docs/reference/configuration.md", kind, key)
			}
		}
	}
	for _, name := range append(Builtins(), Reviewers()...) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("%q is not in docs/reference/configuration.md", name)
		}
	}
}

// sectionOf is the part of the page about one kind of file. Sections begin with
// a line that names the schema.
func sectionOf(t *testing.T, page, kind string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "`stopgate schema config "+kind+"`")
	if !found {
		t.Fatalf("docs/reference/configuration.md has no section for %s", kind)
	}
	section, _, _ := strings.Cut(rest, "`stopgate schema config ")
	return section
}

// allKeys are the keys of a schema and of everything in it, except for the names
// of events, which have a page of their own.
func allKeys(node any) map[string]bool {
	found := map[string]bool{}
	var walk func(node any, inHooks bool)
	walk = func(node any, inHooks bool) {
		switch n := node.(type) {
		case []any:
			for _, item := range n {
				walk(item, false)
			}
		case map[string]any:
			properties, _ := n["properties"].(map[string]any)
			for key, property := range properties {
				if !inHooks {
					found[key] = true
				}
				walk(property, key == "hooks")
			}
			for key, inner := range n {
				if key != "properties" {
					walk(inner, false)
				}
			}
		}
	}
	walk(node, false)
	return found
}
