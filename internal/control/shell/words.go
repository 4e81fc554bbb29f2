package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one of a command.
type word struct {
	text   string // after expansion, as far as it is known
	known  bool
	source string // as it is written
}

func (r *reader) words(all []*syntax.Word) (words []word) {
	for _, w := range all {
		e := expansion{home: r.home, known: true}
		for i, part := range w.Parts {
			e.part(part, i == 0, false)
		}
		words = append(words, word{e.text.String(), e.known, r.text[w.Pos().Offset():w.End().Offset()]})
	}
	return words
}

// expansion is what the shell makes of a word. Of the variables only HOME is the same wherever
// the line runs.
type expansion struct {
	home  string
	text  strings.Builder
	known bool
}

func (e *expansion) part(part syntax.WordPart, first, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		e.literal(p.Value, first, quoted)
	case *syntax.SglQuoted:
		e.known = e.known && !(p.Dollar && strings.Contains(p.Value, `\`))
		e.text.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			e.part(inner, false, true)
		}
	case *syntax.ParamExp:
		if p.Param != nil && p.Param.Value == "HOME" && e.home != "" && plainParam(p) {
			e.text.WriteString(e.home)
			return
		}
		e.known = false
	default:
		e.known = false
	}
}

// plainParam reports whether a variable stands for its value: $A or ${A}.
func plainParam(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Flags == nil && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
}

func (e *expansion) literal(text string, first, quoted bool) {
	if !quoted && first && strings.HasPrefix(text, "~") {
		user, rest, _ := strings.Cut(text, "/")
		if user != "~" || e.home == "" {
			e.known = false
		}
		e.text.WriteString(e.home + "/")
		text = rest
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
			i++
			if text[i] != '\n' {
				e.text.WriteByte(text[i])
			}
			continue
		case !quoted && (c == '*' || c == '?' || c == '[' && text != "[" && text != "[["):
			e.known = false // a pattern
		}
		e.text.WriteByte(c)
	}
}
