package config

import "embed"

//go:embed builtin/*.md
var builtins embed.FS

// Builtins names the reviews whose prompts we bring along.
func Builtins() []string {
	return []string{"code-quality", "security", "test-integrity", "task-compliance"}
}

// Builtin returns one of our prompts.
func Builtin(name string) (prompt string, ok bool) {
	text, err := builtins.ReadFile("builtin/" + name + ".md")
	return string(text), err == nil
}
