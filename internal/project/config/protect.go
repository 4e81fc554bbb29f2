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
		document.Key("protect", &p.Patterns, listOf(protected), "Files that an agent may not change without a person: paths and patterns below the project's root."),
		document.Key("protect_new", &p.New, boolean, "New files that a pattern of protect names count as well.").Default(false),
		document.Key("protect_mode", &p.Blocks, protectMode(), "Ask allows the stop, tells a person, and makes a decision of an agent's complete in a pipeline. Block holds the agent back once for each content, then a person is needed.").Default(ProtectAsk),
	}
}

func protectMode() typeOf[bool] {
	return document.Then(oneOf(ProtectAsk, ProtectBlock), func(_ value, mode ProtectMode) (bool, bool) {
		return mode == ProtectBlock, true
	})
}

// protected reads a path or a pattern. A pattern with "!" would protect almost
// everything instead of making an exception, so it is a fault.
var protected = textThat(pathPattern, rule{
	func(pattern string) bool { return !strings.HasPrefix(pattern, "!") },
	"must not begin with !", "name what is protected; what no entry names is free",
}).As(func() schema { return someText().With("pattern", "^[^!]") })
