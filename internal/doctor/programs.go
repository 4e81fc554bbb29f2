package doctor

import (
	"regexp"
	"slices"
	"strings"
)

// programs lists the programs that a shell's command line is sure to start, as far as they
// can be told without running it: a word that a variable or a pattern is part of is not
// among them, nor is anything behind a test or a fallback.
func programs(line string) (found []string) {
	moved := false // by a cd, which changes what a relative path means
	atStart := true
	for rest := line; ; {
		var t token
		t, rest = nextToken(rest)
		switch {
		case t.kind == end:
			return found
		case t.kind == redirection && strings.HasPrefix(t.text, "<<"):
			return found // what follows is text
		case t.kind == redirection:
			_, rest = nextToken(rest)
		case t.kind == operator && t.text == "(" && !atStart:
			return nil // a function is defined: its name need not be a program
		case t.kind == operator && !slices.Contains([]string{"&&", ";", "\n", "|", "(", "&"}, t.text):
			return found
		case t.kind == operator:
			atStart = true
		case !atStart, assignment.MatchString(t.text), slices.Contains(transparent, t.text):
		case !t.literal, strings.HasPrefix(t.text, "-"), slices.Contains(opaque, t.text):
			return found
		default:
			relative := strings.Contains(t.text, "/") && !strings.HasPrefix(t.text, "/")
			if !moved || !relative {
				found = append(found, t.text)
			}
			moved = moved || t.text == "cd"
			atStart = false
		}
	}
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// transparent are words behind which a command stands; behind opaque ones it is not told
// which of the following commands run.
var (
	transparent = []string{"!", "{", "time", "exec", "command", "env", "nohup", "nice"}
	opaque      = []string{"if", "while", "until", "for", "case", "select", "function", "which", "type", "hash", "test", "[", "[[", "}", "eval", "."}
)

type tokenKind int

const (
	word tokenKind = iota
	operator
	redirection
	end
)

type token struct {
	kind    tokenKind
	text    string // of a word, without its quotes
	literal bool   // the shell expands nothing in it
}

var (
	blank    = regexp.MustCompile(`^([ \t\r]|\\\n)*(#[^\n]*)?`)
	redirect = regexp.MustCompile(`^[0-9]*(<<-|<<|>>|<&|>&|<>|>\||&>|<|>)`)
	symbol   = regexp.MustCompile(`^(&&|\|\||;;|[;&|()\n])`)
)

// nextToken cuts the first token off a command line.
func nextToken(line string) (t token, rest string) {
	line = line[len(blank.FindString(line)):]
	if line == "" {
		return token{kind: end}, ""
	}
	if op := redirect.FindString(line); op != "" {
		return token{kind: redirection, text: op}, line[len(op):]
	}
	if op := symbol.FindString(line); op != "" {
		return token{kind: operator, text: op}, line[len(op):]
	}
	t.literal = true
	var text strings.Builder
	i := 0
	for i < len(line) && !strings.ContainsRune(" \t\r\n;&|()<>", rune(line[i])) {
		switch c := line[i]; c {
		case '\\':
			i++
			if i < len(line) {
				text.WriteByte(line[i])
			}
		case '\'', '"':
			quoted, _, closed := strings.Cut(line[i+1:], string(c))
			t.literal = t.literal && closed && (c == '\'' || !strings.ContainsAny(quoted, "$`\\"))
			text.WriteString(quoted)
			i += len(quoted) + 1
		case '$', '`', '*', '?', '[', '~':
			// "[" alone is a command.
			t.literal = t.literal && c == '[' && (text.Len() > 0 || len(line) == 1 || strings.ContainsRune(" [", rune(line[1])))
			text.WriteByte(c)
		default:
			text.WriteByte(c)
		}
		i++
	}
	t.text = text.String()
	return t, line[min(i, len(line)):]
}
