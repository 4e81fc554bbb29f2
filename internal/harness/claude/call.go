// Package claude runs Claude Code without a person: the command line, the
// environment and what Claude Code prints. It starts nothing itself.
package claude

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Call is one prompt to a headless client. The prompt goes to its standard
// input: arguments are there for every user of the machine to read, and are
// limited in size.
type Call struct {
	Model string // empty: Claude Code's own choice
	// Schema makes Claude Code answer with a JSON value that meets it.
	Schema   string
	Tools    []string // none: no tools at all
	MaxTurns int
	// Dir is where Claude Code runs, and Config the directory of the user's settings.
	Dir, Config string
}

// Args are Claude Code's arguments. It prints one result at its end, which
// ParseResult reads, and keeps no session of it.
func (c Call) Args() []string {
	tools := strings.Join(c.Tools, ",")
	args := append([]string{"-p"}, userOnly(c.Dir, c.Config)...)
	// --tools is what there is, --allowedTools what needs no permission: a user's settings
	// may allow more than a reader should have.
	args = append(args, "--tools", tools)
	if tools != "" {
		args = append(args, "--allowedTools", tools)
	}
	// Both lists take every argument up to the next flag, so a flag comes next.
	args = append(args,
		"--no-session-persistence",
		"--max-turns", strconv.Itoa(c.MaxTurns),
		"--output-format", "json")
	if c.Schema != "" {
		args = append(args, "--json-schema", withoutDialect(c.Schema))
	}
	if c.Model != "" {
		args = append(args, "--model="+c.Model) // one argument: a model is never a flag
	}
	return args
}

// withoutDialect leaves out which dialect a schema is written in. Claude Code's validator
// does not know ours, and a client (2.1.197) that cannot compile the schema goes on
// without one, and does not say so.
func withoutDialect(schema string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(schema), &members) != nil {
		return schema // for Claude Code to refuse
	}
	if _, named := members["$schema"]; !named {
		return schema
	}
	delete(members, "$schema")
	text, err := json.Marshal(members)
	if err != nil {
		return schema
	}
	return string(text)
}
