package runbook

import (
	"fmt"
	"strings"
)

// A condition is what the if of a step says: texts with templates, compared and joined.
//
//	or    = and { "||" and }
//	and   = equal { "&&" equal }
//	equal = not [ ( "==" | "!=" ) not ]
//	not   = "!" not | "(" or ")" | 'text' | "text" | word
//
// Everything is text. The empty text and "false" do not hold, every other text does. What a
// template stands for is never read as a part of the condition.

// ConditionError is a fault in a condition.
type ConditionError struct {
	At      int // in bytes
	Message string
}

func (e *ConditionError) Error() string { return e.Message }

// checkCondition finds what is wrong with a condition. The error is a *ConditionError.
func checkCondition(text string) error {
	_, err := evaluate(text, nil)
	return err
}

// Holds reports whether a condition holds for these values. What has none is empty.
func Holds(text string, vars map[string]string) (bool, error) { return evaluate(text, vars) }

func evaluate(text string, vars map[string]string) (bool, error) {
	c := condition{text: text, vars: vars}
	value := c.or()
	if c.skip(); c.err == nil && c.at < len(c.text) {
		c.fail("unexpected " + quote(c.text[c.at:]))
	}
	if c.err != nil {
		return false, c.err
	}
	return holds(value), nil
}

func holds(value string) bool { return value != "" && value != "false" }

// truth is a value of what is true or false.
func truth(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

// maxNesting is deeper than any condition that a person writes.
const maxNesting = 100

// condition is one that is being read. After a fault, everything else is empty.
type condition struct {
	text  string
	at    int
	depth int
	vars  map[string]string
	err   error
}

func (c *condition) fail(message string) string {
	if c.err == nil {
		c.err = &ConditionError{c.at, message}
	}
	c.at = len(c.text)
	return ""
}

func (c *condition) skip() {
	c.at += len(c.text[c.at:]) - len(strings.TrimLeft(c.text[c.at:], " \t\r\n"))
}

// take takes an operator.
func (c *condition) take(operator string) bool {
	c.skip()
	found := strings.HasPrefix(c.text[c.at:], operator)
	if found {
		c.at += len(operator)
	}
	return found
}

func (c *condition) or() string {
	left := c.and()
	for c.take("||") {
		right := c.and()
		left = truth(holds(left) || holds(right))
	}
	return left
}

func (c *condition) and() string {
	left := c.equal()
	for c.take("&&") {
		right := c.equal()
		left = truth(holds(left) && holds(right))
	}
	return left
}

func (c *condition) equal() string {
	left := c.not()
	switch {
	case c.take("=="):
		return truth(left == c.not())
	case c.take("!="):
		return truth(left != c.not())
	}
	return left
}

func (c *condition) not() string {
	if c.depth++; c.depth > maxNesting {
		return c.fail(fmt.Sprintf("more than %d levels of parentheses and !", maxNesting))
	}
	defer func() { c.depth-- }()
	c.skip()
	switch {
	case c.at == len(c.text):
		return c.fail("a value is missing at the end")
	case !strings.HasPrefix(c.text[c.at:], "!=") && c.take("!"):
		return truth(!holds(c.not()))
	case c.take("("):
		value := c.or()
		if !c.take(")") {
			return c.fail("a closing parenthesis is missing")
		}
		return value
	case c.text[c.at] == '\'' || c.text[c.at] == '"':
		return c.quoted()
	}
	return c.word()
}

// quoted is a text between quotes. Between double quotes a backslash takes the next character as it is.
func (c *condition) quoted() string {
	quote := c.text[c.at]
	var text strings.Builder
	for i := c.at + 1; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case b == quote:
			c.at = i + 1
			return c.expand(text.String())
		case b == '\\' && quote == '"' && i+1 < len(c.text):
			i++
			text.WriteByte(c.text[i])
		default:
			text.WriteByte(b)
		}
	}
	return c.fail("a closing quote is missing")
}

// word is a text without quotes: a template, a name, a number.
func (c *condition) word() string {
	rest := c.text[c.at:]
	end := 0
	for end < len(rest) && !strings.ContainsRune(" \t\r\n()'\"!=&|", rune(rest[end])) {
		if name := templateAt(rest[end:]); name != "" {
			end += len("${}") + len(name)
			continue
		}
		end++
	}
	if end == 0 {
		return c.fail("a value is missing before " + quote(rest))
	}
	c.at += end
	return c.expand(rest[:end])
}

// expand puts in what the templates of a text stand for.
func (c *condition) expand(text string) string {
	return replace(text, func(name string) (string, bool) { return c.vars[name], true })
}
