package runbook

import "strings"

// Expand puts values in for templates. The keys of vars are names as they stand in the
// text: "var.branch" for ${var.branch}, "step" for ${step}. A name that is not among them
// stays as it is, and so does whatever a value holds.
func Expand(text string, vars map[string]string) string {
	return replace(text, func(name string) (string, bool) {
		value, known := vars[name]
		return value, known
	})
}

// ExpandShell is Expand for text that a shell reads. What a shell would obey between
// double quotes is escaped in the values, so between double quotes is where the templates
// must stand.
func ExpandShell(text string, vars map[string]string) string {
	return replace(text, func(name string) (string, bool) {
		value, known := vars[name]
		return escaped(value), known
	})
}

func escaped(value string) string {
	if !strings.ContainsAny(value, "\\$`\"") {
		return value
	}
	return strings.NewReplacer(`\`, `\\`, `$`, `\$`, "`", "\\`", `"`, `\"`).Replace(value)
}

// replace hands the name of each template in a text to value, and puts in what that
// returns.
func replace(text string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name := rest[:len(rest)-len(strings.TrimLeft(rest, nameLetters+"."))]
		text = rest
		if !strings.HasPrefix(rest[len(name):], "}") {
			b.WriteString("${")
			continue
		}
		if new, known := value(name); known {
			b.WriteString(new)
			text = rest[len(name)+1:]
			continue
		}
		b.WriteString("${")
	}
}

// Names are the names of the templates in a text, in their order.
func Names(text string) []string {
	var names []string
	replace(text, func(name string) (string, bool) {
		names = append(names, name)
		return "", false
	})
	return names
}
