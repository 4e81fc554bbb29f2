package manual

import (
	"strings"

	"github.com/spf13/pflag"
)

// roff writes the language of man pages.
type roff struct{ strings.Builder }

// replacements keep roff from reading commands into text, and from making typographic characters of
// those that a user may want to copy.
var replacements = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// escape makes text of a line that roff shows as it is.
func escape(text string) string {
	text = replacements.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

func bold(text string) string   { return `\fB` + replacements.Replace(text) + `\fR` }
func italic(text string) string { return `\fI` + replacements.Replace(text) + `\fR` }

// macro calls one of roff's macros. A quote in an argument is doubled.
func (r *roff) macro(name string, args ...string) {
	r.WriteString("." + name)
	for _, arg := range args {
		r.WriteString(` "` + strings.ReplaceAll(replacements.Replace(arg), `"`, `""`) + `"`)
	}
	r.WriteString("\n")
}

func (r *roff) heading(text string)    { r.macro("SH", text) }
func (r *roff) subheading(text string) { r.macro("SS", text) }

// line writes what is roff already.
func (r *roff) line(text string) { r.WriteString(text + "\n") }

// item is a term, which is roff already, and what it means.
func (r *roff) item(term, meaning string) {
	r.macro("TP")
	r.line(term)
	r.line(escape(meaning))
}

// prose writes the text of a help: paragraphs that the reader's terminal breaks anew, and indented lines,
// which are tables and stay as they are.
func (r *roff) prose(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		r.macro("PP")
		r.paragraph(strings.Split(strings.Trim(paragraph, "\n"), "\n"))
	}
}

func (r *roff) paragraph(lines []string) {
	for len(lines) > 0 {
		end := 0
		for end < len(lines) && strings.HasPrefix(lines[end], " ") {
			end++
		}
		if end > 0 {
			r.verbatim(strings.Join(lines[:end], "\n"))
			lines = lines[end:]
			continue
		}
		r.line(escape(lines[0]))
		lines = lines[1:]
	}
}

// verbatim writes lines that stay as they are. Their indentation becomes the block's.
func (r *roff) verbatim(text string) {
	r.macro("PP")
	r.macro("RS", "2")
	r.macro("nf")
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		r.line(escape(strings.TrimPrefix(line, "  ")))
	}
	r.macro("fi")
	r.macro("RE")
}

func (r *roff) options(flags []*pflag.Flag) {
	for _, flag := range flags {
		value, meaning := pflag.UnquoteUsage(flag)
		term := bold("--" + flag.Name)
		if flag.Shorthand != "" {
			term = bold("-"+flag.Shorthand) + ", " + term
		}
		if value != "" {
			term += " " + italic(value)
		}
		if usual := usualValue(flag); usual != "" {
			meaning += " (default " + usual + ")"
		}
		r.item(term, meaning)
	}
}

// usualValue is the value that a flag has where it is not given; empty where that says nothing.
func usualValue(flag *pflag.Flag) string {
	switch flag.DefValue {
	case "false", "0", "0s", "[]":
		return ""
	}
	return flag.DefValue
}
