package config

import "strings"

const maxNameLength = 64

func newGate(name string) Gate {
	return Gate{
		Name:       name,
		RunInCI:    true,
		RunLocally: true,
		OnError:    AllowOnError,
		Cache:      true,
	}
}

// fields are the keys that checks and reviews have in common.
func (g *Gate) fields() []field {
	return []field{
		{key: "parallel", read: into(&g.Parallel, value.boolean)},
		{key: "run_in_ci", read: into(&g.RunInCI, value.boolean)},
		{key: "run_locally", read: into(&g.RunLocally, value.boolean)},
		{key: "timeout", read: into(&g.Timeout, value.seconds)},
		{key: "on_error", read: func(v value) { oneOf(v, &g.OnError, AllowOnError, BlockOnError) }},
		{key: "cache", read: into(&g.Cache, value.boolean)},
		{key: "inputs", read: listOf(&g.Inputs, value.pathPattern)},
		{key: "env", read: listOf(&g.Env, value.variable)},
		{key: "tools", read: listOf(&g.Tools, value.command)},
		{key: "reads", read: func(v value) {
			reads := []Reading{}
			listOf(&reads, func(v value, to *Reading) bool { return oneOf(v, to, ReadsGit) })(v)
			g.Reads = &reads
		}},
	}
}

// fileName is the key name in a gate's own file, where it can only repeat the
// name of the file.
func fileName(name string) field {
	return field{key: "name", read: func(v value) {
		var text string
		if v.text(&text) && text != name {
			v.fault("a gate is named after its file, this one "+quote(name), "leave name out, or rename the file")
		}
	}}
}

// inlineName is the key name of a gate in config.yml.
func inlineName(to *mention) field {
	return field{key: "name", required: true, read: func(v value) {
		var name string
		if !v.text(&name) {
			return
		}
		if !validName(name) {
			v.fault(badName(name))
			return
		}
		*to = v.mention(name)
	}}
}

// validName reports whether a gate may have the name. It becomes part of file
// names and of lines that other programs read.
func validName(name string) bool {
	return name != "" && len(name) <= maxNameLength && madeOf(name, "._-") && !strings.ContainsAny(name[:1], "._-")
}

func badName(name string) (message, hint string) {
	return quote(name) + " is no name for a gate",
		"use at most 64 letters, digits and . _ -, and begin with a letter or a digit"
}

// variable reads the name of an environment variable.
func (v value) variable(to *string) bool {
	var name string
	if !v.text(&name) {
		return false
	}
	if name == "" || !madeOf(name, "_") || name[0] >= '0' && name[0] <= '9' {
		v.fault(quote(name)+" is no name for a variable", "use letters, digits and _")
		return false
	}
	*to = name
	return true
}

// madeOf reports whether a text has only ASCII letters, digits and the given
// signs in it.
func madeOf(text, signs string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		digit := r >= '0' && r <= '9'
		return !letter && !digit && !strings.ContainsRune(signs, r)
	})
}
