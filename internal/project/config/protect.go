package config

import "strings"

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
		{key: "protect", read: listOf(&p.Patterns, value.protected)},
		{key: "protect_new", read: into(&p.New, value.boolean)},
		{key: "protect_mode", read: func(v value) {
			var mode ProtectMode
			oneOf(v, &mode, ProtectAsk, ProtectBlock)
			p.Blocks = mode == ProtectBlock
		}},
	}
}

// protected reads a path or a pattern. A pattern with "!" would protect almost
// everything instead of making an exception, so it is a fault.
func (v value) protected(to *string) bool {
	var pattern string
	if !v.pathPattern(&pattern) {
		return false
	}
	if strings.HasPrefix(pattern, "!") {
		v.fault("must not begin with !", "name what is protected; what no entry names is free")
		return false
	}
	*to = pattern
	return true
}
