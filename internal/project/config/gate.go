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
		document.Key("parallel", &g.Parallel, boolean, "Run beside other gates.").Default(g.Parallel),
		document.Key("run_in_ci", &g.RunInCI, boolean, "").Default(true),
		document.Key("run_locally", &g.RunLocally, boolean, "").Default(true),
		document.Key("timeout", &g.Timeout, seconds, "For one run of the command, or one call of a reviewer. A duration, or a number of seconds. Default: what the run has; for a reviewer half of what is left of that."),
		document.Key("on_error", &g.OnError, oneOf(AllowOnError, BlockOnError), "What becomes of a gate that could not run.").Default(AllowOnError),
		document.Key("cache", &g.Cache, boolean, "Let a pass stand for the next run on the same content.").Default(true),
		document.Key("inputs", &g.Inputs, listOf(pathPattern), "Patterns of the files that a pass depends on, ignored ones included. Default: the whole working tree."),
		document.Key("env", &g.Env, listOf(variable), "Variables that a pass depends on."),
		document.Key("tools", &g.Tools, listOf(command), "Commands that print a version that a pass depends on."),
		document.Key("reads", &g.Reads, readings(), "What a pass depends on besides files. Default: git (HEAD, branch, index, base) where the command or a script of .gauntlet uses it."),
	}
}

func readings() typeOf[*[]Reading] {
	return document.Then(listOf(oneOf(ReadsGit)), func(_ value, list []Reading) (*[]Reading, bool) {
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
			v.Fault("a gate is named after its file, this one "+quote(name), "leave name out, or rename the file")
		}
		return text, text == name
	})
	return document.Key("name", &text, same.As(gateName.Schema), "Only the file's own name, if anything.")
}

// inlineName is the key name of a gate in config.yml.
func inlineName(to *mention) field {
	return document.Key("name", to, mentioned(gateName), "The gate's name.").Needed()
}

// nameRule is for the names of gates, which become part of file names and of lines that
// other programs read.
var nameRule = rule{
	validName, "%s is no name for a gate",
	"use at most 64 letters, digits and . _ -, and begin with a letter or a digit",
}

// validName needs no regular expression: every stop asks it.
func validName(name string) bool {
	const signs, letters = "._-", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return name != "" && len(name) <= maxNameLength && strings.Trim(name, letters+signs) == "" && !strings.ContainsAny(name[:1], signs)
}

var gateName = textThat(anyText, nameRule).As(func() schema {
	return document.Matching("^[A-Za-z0-9][A-Za-z0-9._-]*$").With("maxLength", maxNameLength)
})

// variable reads the name of an environment variable.
var variable = matching("^[A-Za-z_][A-Za-z0-9_]*$", "%s is no name for a variable", "use letters, digits and _")
