package config

import (
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

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
		document.Key("parallel", &g.Parallel, document.Flag, "Run in parallel with other gates.").Default(g.Parallel),
		document.Key("run_in_ci", &g.RunInCI, document.Flag, "").Default(true),
		document.Key("run_locally", &g.RunLocally, document.Flag, "").Default(true),
		document.Key("timeout", &g.Timeout, seconds, "The time limit for one run of the command, or one call of a reviewer: a duration, or a number of seconds. Default: the time limit of the whole run; for a reviewer, half of what is left of it."),
		document.Key("on_error", &g.OnError, oneOf(AllowOnError, BlockOnError), "What to do if the gate could not run.").Default(AllowOnError),
		document.Key("cache", &g.Cache, document.Flag, "Skip the gate while nothing has changed since it passed.").Default(true),
		document.Key("inputs", &g.Inputs, listOf(pathPattern()), "Patterns for the files that the result depends on, including files that git ignores, from the project's root or from where the gate runs. Default: the whole working tree."),
		document.Key("env", &g.Env, listOf(variable()), "Environment variables that the result depends on."),
		document.Key("tools", &g.Tools, listOf(command()), "Commands that print a version that the result depends on."),
		document.Key("reads", &g.Reads, readings(), "What else the result depends on. Default: git (HEAD, branch, index, base) if the command or a script in .gauntlet uses it."),
		document.Key("accept_proof", &g.AcceptProof, document.Flag, "Let stopgate verify-proof accept a signed pass of another machine instead of running the gate.").Default(false),
	}
}

func readings() typeOf[*[]Reading] {
	return document.Then(listOf(oneOf(readsGit)), func(_ value, list []Reading) (*[]Reading, bool) {
		list = append([]Reading{}, list...) // never nil
		return &list, true
	})
}

// fileName is the key name in a gate's own file, where it can only repeat the
// name of the file.
func fileName(name string) field {
	var text string
	same := document.Then(anyText, func(v value, text string) (string, bool) {
		if text != name {
			v.Fault("must be the name of the file, "+quote(name), "remove name, or rename the file")
		}
		return text, text == name
	})
	return document.Key("name", &text, same.As(gateName().Schema), "The name of the file. May be omitted.")
}

// inlineName is the key name of a gate in config.yml.
func inlineName(to *mention) field {
	return document.Key("name", to, mentioned(gateName()), "The gate's name.").Needed()
}

// nameRule is for the names of gates, which become part of file names and of lines that
// other programs read.
var nameRule = rule{
	validName, "invalid gate name %s",
	"use at most 64 letters, digits and . _ -, and begin with a letter or a digit",
}

// validName needs no regular expression: every stop asks it.
func validName(name string) bool {
	const signs, letters = "._-", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return name != "" && len(name) <= maxNameLength && strings.Trim(name, letters+signs) == "" && !strings.ContainsAny(name[:1], signs)
}

func gateName() typeOf[string] {
	return textThat(anyText, nameRule).As(func() schema {
		return document.Matching("^[A-Za-z0-9][A-Za-z0-9._-]*$").With("maxLength", maxNameLength)
	})
}

// variable reads the name of an environment variable.
func variable() typeOf[string] {
	return matching("^[A-Za-z_][A-Za-z0-9_]*$", "invalid variable name %s", "use letters, digits and _")
}
