package migrate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
)

// rules reads the rules for tools, which become rules under deny. They are in preToolUse, and in early
// versions in rules.
func (m *fromConclaude) rules(s document.Value) {
	keys, _ := s.Entries()
	for _, k := range keys {
		if k.Name == "preventRootAdditionsMessage" {
			m.rootMessage = textOf(k)
		}
	}

	for _, k := range keys {
		setting := s.Name + "." + k.Name
		switch k.Name {
		case "preventRootAdditions", "preventRoot":
			if m.rootSet = true; isOn(k) {
				m.rootAdditions(k, setting)
			}
		case "preventRootAdditionsMessage": // part of that
		case "uneditableFiles":
			m.files(k, setting, config.Deny{})
		case "preventAdditions":
			m.files(k, setting, config.Deny{Tools: "Write", New: true})
		case "toolUsageValidation":
			rules, _ := k.List("")
			for i, rule := range rules {
				m.toolRule(rule, fmt.Sprintf("%s[%d]", setting, i))
			}
		case "preventGeneratedFileEdits":
			if m.generatedSet = true; isOn(k) {
				m.left(k, setting, byContent)
			}
		case "preventUpdateGitIgnored":
			if isOn(k) {
				m.left(k, setting, byContent)
			}
		case "generatedFileMessage":
			m.left(k, setting, "it belongs to preToolUse.preventGeneratedFileEdits")
		default:
			m.left(k, setting, "stopgate knows no such key")
		}
	}
}

// byContent is why rules are left that go by what is in a file.
const byContent = "deny goes by the path of a file, not by its content or by .gitignore: list the paths there"

// defaults are the rules that hold in conclaude unless the file says otherwise.
func (m *fromConclaude) defaults(v document.Value) {
	if !m.rootSet {
		m.rootAdditions(v, "preToolUse.preventRootAdditions (default: true)")
	}
	if !m.generatedSet {
		m.left(v, "preToolUse.preventGeneratedFileEdits (default: true)", byContent)
	}
}

// rootAdditions denies new files at the top.
func (m *fromConclaude) rootAdditions(v document.Value, setting string) {
	rule := config.Deny{Tools: "Write", Paths: []string{"*"}, New: true}
	differs := withMessage(&rule, m.rootMessage)
	m.deny(v, setting, rule, differs)
}

// withMessage gives a rule its message, and says what is not filled in there.
func withMessage(rule *config.Deny, text string) (differs string) {
	rule.Message = text
	if strings.Contains(text, "{file_path}") || strings.Contains(text, "{tool}") {
		return "{file_path} and {tool} stay as they are in the message"
	}
	return ""
}

// deny adds a rule.
func (m *fromConclaude) deny(v document.Value, setting string, rule config.Deny, differs string) {
	m.add.Deny = append(m.add.Deny, rule)
	var to []string
	if rule.Tools != "" {
		to = append(to, "tools "+rule.Tools)
	}
	for _, pattern := range rule.Paths {
		to = append(to, "paths "+pattern)
	}
	for _, pattern := range rule.Commands {
		to = append(to, "commands "+pattern)
	}
	if rule.New {
		to = append(to, "new")
	}
	m.into(v, setting, "deny: "+strings.Join(to, ", "), differs)
}

// files reads a list of files that must not be written: patterns, or mappings with one.
func (m *fromConclaude) files(k document.Value, setting string, like config.Deny) {
	items, _ := k.List("")
	for i, item := range items {
		setting := fmt.Sprintf("%s[%d]", setting, i)
		pattern, message, agent := "", "", ""
		if item.Node.Kind() == document.Mapping {
			keys, _ := item.Entries()
			for _, k := range keys {
				switch k.Name {
				case "pattern":
					pattern = textOf(k)
				case "message":
					message = textOf(k)
				case "agent":
					agent = textOf(k)
				default:
					m.left(k, setting+"."+k.Name, "stopgate knows no such key")
				}
			}
		} else {
			pattern = textOf(item)
		}

		rule := like
		paths, why := pathPatterns(pattern)
		if why != "" {
			m.left(item, setting+": "+pattern, why)
			continue
		}
		rule.Paths = paths
		unfilled := withMessage(&rule, message)
		m.deny(item, setting+": "+pattern, rule, joined(bracesDiffer(paths), unfilled, forAgent(agent)))
	}
}

// toolRule reads a rule of toolUsageValidation.
func (m *fromConclaude) toolRule(v document.Value, setting string) {
	keys, _ := v.Entries()
	words := map[string]string{}
	for _, k := range keys {
		switch k.Name {
		case "tool", "pattern", "action", "message", "commandPattern", "matchMode", "agent":
			words[k.Name] = textOf(k)
		default:
			m.left(k, setting+"."+k.Name, "stopgate knows no such key")
		}
	}

	setting += strings.TrimRight(fmt.Sprintf(": %s %s %s", words["action"], words["tool"], cmp.Or(words["commandPattern"], words["pattern"])), " ")
	if words["action"] != "block" {
		m.left(v, setting, "deny has no list of what is allowed: write it under permissions in Claude Code's settings")
		return
	}
	tools, ok := onePattern(words["tool"])
	if !ok {
		m.left(v, setting, "it names no tool")
		return
	}

	rule, why, braces := config.Deny{Tools: tools}, "", ""
	if command := words["commandPattern"]; command != "" && doublestar.MatchUnvalidated(tools, "Bash") {
		rule.Tools, rule.Commands = "", commandPatterns(command, words["matchMode"] == "prefix")
		if rule.Commands == nil {
			why = notAPattern
		}
	} else {
		rule.Paths, why = pathPatterns(words["pattern"])
		braces = bracesDiffer(rule.Paths)
	}
	if why != "" {
		m.left(v, setting, why)
		return
	}

	unfilled := withMessage(&rule, words["message"])
	m.deny(v, setting, rule, joined(braces, unfilled, forAgent(words["agent"])))
}

// Why a pattern is left.
const (
	notOurs     = "deny is for files inside the project"
	notAPattern = "the pattern is not valid, or cannot be carried over: write it under deny yourself"
)

// forAgent is what differs for a rule that is for some agents only.
func forAgent(agent string) string {
	if agent == "" || agent == "*" {
		return ""
	}
	return "it is for all agents, not for " + agent + " alone"
}

// joined are the sentences that are not empty.
func joined(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), "; ")
}

// isPattern reports whether our configuration takes a pattern.
func isPattern(pattern string) bool {
	return pattern != "" && doublestar.ValidatePattern(pattern) && !strings.ContainsRune(pattern, 0)
}

// commandPatterns are conclaude's for a command line. With prefix, more words may follow. Braces are also
// letters there, since a shell has them too. Nil where there is none.
func commandPatterns(pattern string, prefix bool) (ours []string) {
	pattern = strings.Join(strings.Fields(pattern), " ")
	all, ok := alternatives(pattern)
	if !ok {
		return nil
	}
	if len(all) > 1 {
		all = append(all, literalBraces(pattern))
	}
	for _, pattern := range all {
		if !isPattern(pattern) {
			return nil
		}
		ours = append(ours, pattern)
		if prefix {
			ours = append(ours, pattern+" *")
		}
	}
	return ours
}

// pathPatterns are patterns of ours for one of conclaude's, or why there are none.
func pathPatterns(pattern string) (ours []string, why string) {
	all, ok := alternatives(pattern)
	if !ok {
		return nil, notAPattern
	}
	for _, one := range all {
		one, ok := pathPattern(one)
		if !ok {
			return nil, notOurs
		}
		ours = append(ours, one)
	}
	return ours, ""
}

// pathPattern is a pattern of ours for one of conclaude's without alternatives, in which * also matches
// slashes. Of a path outside of the project there is none.
func pathPattern(pattern string) (ours string, ok bool) {
	pattern = strings.TrimPrefix(pattern, "./")
	if pattern == "" || path.IsAbs(pattern) || strings.HasPrefix(pattern, "~") || strings.HasPrefix(pattern, "!") {
		return "", false
	}

	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if part == ".." {
			return "", false
		}
		if part == "**" {
			continue
		}

		rest, leads := strings.CutPrefix(part, "*")
		rest = strings.ReplaceAll(rest, "*", "{*,*/**/*}")
		switch {
		case leads && i > 0 && parts[i-1] == "**":
			rest = "*" + rest
		case leads:
			rest = "**/*" + rest
		}
		parts[i] = rest
	}
	ours = path.Clean(strings.Join(parts, "/"))
	return ours, ours != "." && isPattern(ours)
}
