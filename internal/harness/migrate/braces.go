package migrate

import "strings"

// Far above what a person writes: each brace multiplies the alternatives, and braces can be in braces.
const (
	mostAlternatives = 256
	longestPattern   = 4096
)

// alternatives are the patterns that a pattern with braces stands for: a.{js,ts} is a.js and a.ts. That is
// what early versions of conclaude made of braces, and what its documentation says. To its newer versions
// they are letters, so the pattern protects nothing there. Braces without a comma are letters to all of
// them. It is not ok where the meaning is open: a range such as {1..3}, or a backslash before a brace.
func alternatives(pattern string) (all []string, ok bool) {
	before, rest, found := strings.Cut(pattern, "{")
	if !found {
		return []string{literalBraces(pattern)}, true
	}
	if strings.Contains(pattern, `\`) || len(pattern) > longestPattern {
		return nil, false
	}

	parts, after, closed := braceParts(rest)
	if !closed {
		return []string{literalBraces(pattern)}, true
	}
	options, ok := optionsOf(parts)
	if !ok {
		return nil, false
	}
	ends, ok := alternatives(after)
	if !ok || len(options)*len(ends) > mostAlternatives {
		return nil, false
	}

	for _, option := range options {
		for _, end := range ends {
			all = append(all, literalBraces(before)+option+end)
		}
	}
	return all, true
}

// optionsOf are what may stand where the braces are.
func optionsOf(parts []string) (options []string, ok bool) {
	for _, part := range parts {
		inner, ok := alternatives(part)
		if !ok || len(parts) == 1 && strings.Contains(part, "..") {
			return nil, false
		}
		for _, option := range inner {
			if len(parts) == 1 {
				option = `\{` + option + `\}`
			}
			options = append(options, option)
		}
	}
	return options, true
}

// braceParts splits a text that begins behind a brace at the commas of that brace, up to its end.
func braceParts(text string) (parts []string, after string, closed bool) {
	depth, start := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return append(parts, text[start:i]), text[i+1:], true
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return nil, "", false
}

// literalBraces keeps braces what they are: letters like any others.
func literalBraces(pattern string) string {
	return strings.NewReplacer("{", `\{`, "}", `\}`).Replace(pattern)
}

// onePattern is a pattern of ours with the same alternatives, for a key that takes one pattern.
func onePattern(pattern string) (ours string, ok bool) {
	all, ok := alternatives(pattern)
	if !ok || len(all) == 0 {
		return "", false
	}
	ours = all[0]
	if len(all) > 1 {
		ours = "{" + strings.Join(all, ",") + "}"
	}
	return ours, isPattern(ours)
}

// bracesDiffer is what is to be said of a pattern that stands for several.
func bracesDiffer(all []string) string {
	if len(all) < 2 {
		return ""
	}
	return "the braces are alternatives; newer versions of conclaude take them for letters"
}
