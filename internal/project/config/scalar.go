package config

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

type (
	typeOf[T any] = document.Type[T]
	schema        = document.Schema
)

// Types that are made of others are functions, so that no hook has to make them when it starts.
var anyText = typeOf[string]{Read: readText, Schema: document.AnyText}

// argument reads a text that a program can be given.
func argument() typeOf[string] { return textThat(anyText, noNUL) }

func command() typeOf[string] { return textThat(anyText, notBlank, noNUL).As(document.Words) }

func glob() typeOf[string] { return textThat(anyText, notEmpty, isGlob).As(someText) }

// rule is what a text must be.
type rule struct {
	holds     func(text string) bool
	otherwise string // %s is the text
	hint      string
}

var (
	notBlank = rule{func(text string) bool { return strings.TrimSpace(text) != "" }, "must not be blank", ""}
	notEmpty = rule{func(text string) bool { return text != "" }, "must not be empty", "\"*\" matches everything"}
	isGlob   = rule{doublestar.ValidatePattern, "%s is not a valid pattern", "check the brackets and braces, and escape literal ones with \\"}
	// An escape such as "\0" can bring one in.
	noNUL = rule{func(text string) bool { return !strings.Contains(text, "\x00") }, "must not contain a NUL character", ""}
)

// textThat reads a text that keeps all rules.
func textThat(t typeOf[string], rules ...rule) typeOf[string] {
	return document.Then(t, func(v value, text string) (string, bool) {
		for _, r := range rules {
			if !r.holds(text) {
				v.Fault(r.wrong(text), r.hint)
				return "", false
			}
		}
		return text, true
	})
}

func (r rule) wrong(text string) string { return strings.ReplaceAll(r.otherwise, "%s", quote(text)) }

func someText() schema { return document.AnyText().With("minLength", 1) }

// matching reads a text that a pattern matches.
func matching(pattern, otherwise, hint string) typeOf[string] {
	matches := lazyregexp.New(pattern)
	matched := func(text string) bool { return matches.Get().MatchString(text) }
	return textThat(anyText, rule{matched, otherwise, hint}).As(func() schema { return document.Matching(pattern) })
}

// readText reads a string. A number or a boolean is no string: whether 010 is
// eight, ten or itself should not depend on who reads the file.
func readText(v value, to *string) bool {
	switch v.Node.Kind() {
	case document.Text, document.Block:
		*to = v.Node.Text()
		return true
	case document.Boolean, document.Integer, document.Float:
		v.WrongType("text", "write "+quote(v.Node.Text())+", with quotes")
		return false
	}
	v.WrongType("text", "")
	return false
}

// word reads a text that is not a block.
func word(want, hint string) typeOf[string] {
	return document.New(func(v value, to *string) bool {
		ok := v.Is(document.Text, want, hint)
		if ok {
			*to = v.Node.Text()
		}
		return ok
	}, document.AnyText)
}

// pattern reads a regular expression.
func pattern() typeOf[string] {
	return document.Then(command(), func(v value, text string) (string, bool) {
		_, err := regexp.Compile(text)
		if err != nil {
			v.Fault(quote(text)+" is not a regular expression: "+err.Error(), "")
		}
		return text, err == nil
	})
}

// integer reads a whole number from low to high.
func integer(low, high int64) typeOf[int64] {
	return document.New(func(v value, to *int64) bool { return readInteger(v, to, low, high) }, func() schema {
		if high == math.MaxInt64 {
			return document.Whole(low)
		}
		return document.Whole(low).With("maximum", high)
	})
}

func readInteger(v value, to *int64, low, high int64) bool {
	if !v.Is(document.Integer, "a whole number", "") {
		return false
	}
	text := v.Node.Text()
	number, err := strconv.ParseInt(text, 10, 64)
	// Octal, hexadecimal and grouped numbers mean different things to
	// different readers of YAML.
	if err != nil || strconv.FormatInt(number, 10) != text {
		v.Fault(oneLine(text)+" is not a plain decimal number in range", "")
		return false
	}
	if number < low || number > high {
		limits := "at least " + strconv.FormatInt(low, 10)
		if high < math.MaxInt64 {
			limits = "from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
		}
		v.Fault("must be "+limits, "")
		return false
	}
	*to = number
	return true
}

// count reads a number of things.
func count(low, high int64) typeOf[int] {
	return document.Then(integer(low, high), func(_ value, number int64) (int, bool) { return int(number), true })
}

// size reads a number of bytes above zero: a plain number, or one with a unit.
var size = typeOf[int64]{Read: readSize, Schema: func() schema {
	return document.AnyOf(document.Matching(`^\s*\+?[0-9]+\s*(KiB|MiB|GiB)$`), document.Whole(1))
}}

func readSize(v value, to *int64) bool {
	if v.Node.Kind() == document.Integer {
		return readInteger(v, to, 1, math.MaxInt64)
	}
	return document.Then(word("a size such as 256MiB", ""), func(v value, text string) (int64, bool) {
		bytes, ok := parseSize(text)
		if !ok {
			v.Fault(quote(text)+" is not a size", "write it like 512KiB, 256MiB or 1GiB, or as a number of bytes")
		}
		return bytes, ok
	}).Read(v, to)
}

func parseSize(text string) (int64, bool) {
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		shift := 10 * (i + 1)
		number, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		return number << shift, err == nil && number > 0 && number <= math.MaxInt64>>shift
	}
	return 0, false
}

// oneOf reads one of a few words.
func oneOf[T ~string](choices ...T) typeOf[T] {
	return document.New(func(v value, to *T) bool {
		words := document.Strings(choices)
		either := strings.Join(words, " or ")
		if !v.Is(document.Text, either, "") {
			return false
		}
		word := v.Node.Text()
		if !slices.Contains(words, word) {
			v.Fault("wanted "+either+", found "+quote(word), document.DidYouMean(word, words))
			return false
		}
		*to = T(word)
		return true
	}, func() schema { return document.Enum(choices...) })
}
