package config

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Deny is a rule by which a tool call is denied before it runs. A call is denied that one of the paths or
// commands matches; a rule with neither denies the tools themselves.
type Deny struct {
	// Tools is a pattern for the name of the tool; empty for those that a rule with paths or commands is
	// about.
	Tools string
	// Paths are of files that the call names, as those of entry points are.
	Paths []string
	// New means that only files count that do not exist yet.
	New bool
	// Commands are patterns for command lines. A * matches any text.
	Commands []string
	// Message is for the agent.
	Message string
}

// String is the rule as the configuration could have it on one line, without its message.
func (r Deny) String() string {
	var keys []string
	if r.Tools != "" {
		keys = append(keys, fmt.Sprintf("tools: %q", r.Tools))
	}
	if len(r.Paths) > 0 {
		keys = append(keys, "paths: "+quoted(r.Paths))
	}
	if r.New {
		keys = append(keys, "new: true")
	}
	if len(r.Commands) > 0 {
		keys = append(keys, "commands: "+quoted(r.Commands))
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

func quoted(list []string) string {
	var out []string
	for _, text := range list {
		out = append(out, fmt.Sprintf("%q", text))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// Denials lists the rules.
func (p *Project) Denials() (out []string) {
	for _, rule := range p.Deny {
		out = append(out, rule.String())
	}
	return out
}

func (r *Deny) fields() []field {
	return []field{
		document.Key("tools", &r.Tools, glob(), "A pattern for the name of the tool. Default: the tools that write files, with paths; Bash, with commands."),
		document.Key("paths", &r.Paths, someOf(protected()), "Files that the call names: paths and patterns in the project."),
		document.Key("new", &r.New, document.Flag, "Only files that do not exist yet.").Default(false),
		document.Key("commands", &r.Commands, someOf(glob()), "Patterns for command lines. A * matches any text."),
		document.Key("message", &r.Message, anyText, "Text for the agent: why, and what to do instead."),
	}
}

// denials reads the rules.
func denials() typeOf[[]Deny] {
	rule := document.Object((*Deny).fields)
	return listOf(document.New(func(v value, to *Deny) bool {
		before := v.Source.Count
		ok := rule.Read(v, to)
		switch {
		case v.Source.Count > before: // what is wrong was said
			return ok
		case to.Tools == "" && len(to.Paths) == 0 && len(to.Commands) == 0:
			v.Source.Fault(v, "the rule denies nothing", "write tools, paths or commands")
		case to.New && len(to.Paths) == 0:
			v.Source.Fault(v, "new needs paths", `for new files anywhere: paths: ["**"]`)
		default:
			return ok
		}
		return false
	}, func() schema {
		s := rule.Schema()
		s["anyOf"] = []schema{{"required": []string{"tools"}}, {"required": []string{"paths"}}, {"required": []string{"commands"}}}
		s["dependentRequired"] = schema{"new": []string{"paths"}}
		return s
	}))
}
