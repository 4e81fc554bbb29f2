package runbook

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a simple command.
type word struct {
	text string // without quotes; expansions as they are written
	raw  string // as it is written
	at   int    // where it begins
	open bool   // there is an expansion in it: it may come to anything
}

// program is the base name of a program.
func (w word) program() string { return strings.TrimSuffix(path.Base(w.text), ".exe") }

// expands reports whether the shell may make another word of it.
func (w word) expands() bool {
	return w.open || strings.HasPrefix(w.raw, "~") || strings.ContainsAny(w.raw, "*?[")
}

// assigns reports whether the word is an assignment, where it stands before the program.
func (w word) assigns() bool {
	name, _, found := strings.Cut(w.raw, "=")
	return found && isVariable(name)
}

// parseScript reads a script of a shell. Its templates have other names, which a shell can read; every place stays
// where it is.
func parseScript(script string) (*syntax.File, error) {
	readable := replace(script, func(name string) (string, bool) { return "${" + strings.Repeat("_", len(name)) + "}", true })
	return syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(readable), "")
}

// simpleCommand takes a script apart, where it is one simple command: words and quotes, no
// operators, no command substitution, no comment and no second line.
func simpleCommand(script string) (words []word, ok bool) {
	file, err := parseScript(script)
	if err != nil || len(file.Stmts) > 1 || len(file.Last) > 0 {
		return nil, false
	}
	if len(file.Stmts) == 0 {
		return nil, true
	}

	s := file.Stmts[0]
	call, is := s.Cmd.(*syntax.CallExpr)
	if !is || s.Negated || s.Background || s.Coprocess || s.Semicolon.IsValid() || len(s.Redirs)+len(s.Comments) > 0 {
		return nil, false
	}

	for _, a := range call.Assigns {
		var parts []syntax.WordPart
		if a.Value != nil {
			parts = a.Value.Parts
		}
		w, ok := wordAt(script, a, parts)
		if !ok || a.Append || a.Index != nil || a.Array != nil {
			return nil, false
		}
		w.text = a.Name.Value + "=" + w.text
		words = append(words, w)
	}

	for _, arg := range call.Args {
		w, ok := wordAt(script, arg, arg.Parts)
		if !ok {
			return nil, false
		}
		words = append(words, w)
	}
	return words, true
}

// wordAt is a word of a script, unless there is more in it than quotes and expansions of names.
func wordAt(script string, at syntax.Node, parts []syntax.WordPart) (w word, ok bool) {
	w = word{raw: written(script, at), at: int(at.Pos().Offset())}
	for _, part := range parts {
		if !w.add(script, part, false) {
			return w, false
		}
	}
	return w, true
}

// written is a part of a script as it is written.
func written(script string, n syntax.Node) string {
	return script[n.Pos().Offset():n.End().Offset()]
}

// add adds a part of the word.
func (w *word) add(script string, part syntax.WordPart, quoted bool) bool {
	raw := written(script, part)
	switch p := part.(type) {
	case *syntax.Lit:
		text, ok := unescaped(raw, quoted)
		w.text += text
		return ok
	case *syntax.SglQuoted:
		w.text += strings.Trim(strings.TrimPrefix(raw, "$"), "'")
		w.open = w.open || p.Dollar || strings.Contains(raw, "${") // our templates know no quotes
	case *syntax.DblQuoted:
		w.open = w.open || p.Dollar
		for _, inner := range p.Parts {
			if !w.add(script, inner, true) {
				return false
			}
		}
	case *syntax.ParamExp:
		w.text, w.open = w.text+raw, true
		return p.Short || templateAt(raw) != ""
	default:
		return false
	}
	return true
}

// unescaped is text without the backslashes that escape something. Between double quotes only some characters are
// escaped. A backslash at the end is not ok: it would escape what we add.
func unescaped(text string, quoted bool) (plain string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		escapes := text[i] == '\\' && (!quoted || strings.IndexByte("$`\"\\\n", text[min(i+1, len(text)-1)]) >= 0)
		if escapes && i+1 == len(text) {
			return b.String(), false
		}
		if escapes {
			i++
		}
		if !escapes || text[i] != '\n' {
			b.WriteByte(text[i])
		}
	}
	return b.String(), true
}
