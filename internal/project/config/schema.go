package config

import (
	"embed"
	"fmt"
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
