package config

import (
	"embed"
	"fmt"

	"github.com/stopgate/stopgate/internal/project/document"
)

//go:generate go run ./schemagen

//go:embed schema/*.json
var schemas embed.FS

// Kinds names the kinds of configuration files that there are schemas for.
func Kinds() []string { return []string{"project", "check", "review", "ci", "global"} }

// Schema is the JSON Schema (2020-12) of a kind of configuration file.
func Schema(kind string) ([]byte, error) {
	data, err := schemas.ReadFile("schema/" + kind + ".json")
	if err != nil {
		return nil, fmt.Errorf("no schema for %q", kind)
	}
	return data, nil
}

// MakeSchema makes the schema of a kind out of the tables that files are decoded by.
func MakeSchema(kind string) document.Schema {
	switch kind {
	case "check":
		return checkSchema(fileName(""))
	case "review":
		return reviewSchema(fileName(""))
	case "ci":
		return orNull(document.Properties(new(CI).fields(nil)...)).With("title", ".gauntlet/ci.yml")
	case "global":
		return orNull(document.Properties(new(Global).fields()...)).With("title", "~/.config/agent-gauntlet/config.yml")
	}
	return projectSchema()
}
