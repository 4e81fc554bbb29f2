package config

import (
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Protect says which files an agent may not change without a person.
type Protect struct {
	// Patterns are paths below the project's root, as those of entry points are.
	Patterns []string
	// New means that a new file counts as well.
	New bool
	// Blocks means that a stop is blocked after a protected file was changed; else a person is
	// only told.
	Blocks bool
}

// ProtectMode is what becomes of a stop after a protected file was changed.
type ProtectMode string

const (
	// ProtectAsk, the default, allows the stop and tells a person.
	ProtectAsk ProtectMode = "ask"
	// ProtectBlock blocks it once for each content.
	ProtectBlock ProtectMode = "block"
)

func (p *Protect) fields() []field {
	return []field{
		document.Key("protect", &p.Patterns, listOf(protected()), "Files that an agent may not change without approval: paths and patterns in the project."),
		document.Key("protect_new", &p.New, document.Flag, "Also protect new files that match protect.").Default(false),
		document.Key("protect_mode", &p.Blocks, protectMode(), "ask: allow the stop and tell a person; in a pipeline, an agent's complete becomes a decision. block: block the stop once for each change, then wait for a person.").Default(ProtectAsk),
	}
}

func protectMode() typeOf[bool] {
	return document.Then(oneOf(ProtectAsk, ProtectBlock), func(_ value, mode ProtectMode) (bool, bool) {
		return mode == ProtectBlock, true
	})
}

// protected reads a path or a pattern. A pattern with "!" would protect almost
// everything instead of making an exception, so it is a fault.
func protected() typeOf[string] {
	return textThat(pathPattern(), rule{
		func(pattern string) bool { return !strings.HasPrefix(pattern, "!") },
		"must not begin with !", "list what is protected; everything else is free",
	}).As(func() schema { return someText().With("pattern", "^[^!]") })
}
