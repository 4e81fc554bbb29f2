package config

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/project/document"
)

type (
	typeOf[T any] = document.Type[T]
	schema        = document.Schema
)

var (
	boolean  = document.Flag
	anyText  = document.New(readText, document.AnyText)
	argument = textThat(anyText, cannotBeHandedOver) // to a program
	command  = textThat(anyText, saysNothing, cannotBeHandedOver).As(document.Words)
	glob     = textThat(anyText, isNoGlob).As(notEmpty)
	pattern  = textThat(command, isNoPattern) // a regular expression
)

func notEmpty() schema { return document.AnyText().With("minLength", 1) }

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

// textThat reads a text that nothing is wrong with.
func textThat(t typeOf[string], wrongs ...func(text string) (message, hint string)) typeOf[string] {
	return document.Then(t, func(v value, text string) (string, bool) {
		for _, wrong := range wrongs {
			if message, hint := wrong(text); message != "" {
				v.Fault(message, hint)
				return "", false
			}
		}
		return text, true
	})
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

func saysNothing(text string) (message, hint string) {
	if strings.TrimSpace(text) == "" {
		return "must not be blank", ""
	}
	return "", ""
}

func cannotBeHandedOver(text string) (message, hint string) {
	// An escape such as "\0" can bring one in.
	if strings.Contains(text, "\x00") {
		return "must not contain a NUL character", ""
	}
	return "", ""
}

func isNoGlob(text string) (message, hint string) {
	switch {
	case text == "":
		return "must not be empty", "\"*\" matches everything"
	case !doublestar.ValidatePattern(text):
		return quote(text) + " is not a valid pattern", "check the brackets and braces, and put \\ before one that is meant literally"
	}
	return "", ""
}

func isNoPattern(text string) (message, hint string) {
	if _, err := regexp.Compile(text); err != nil {
		return quote(text) + " is not a regular expression: " + err.Error(), ""
	}
	return "", ""
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
var size = document.New(readSize, func() schema {
	return document.AnyOf(document.Matching(`^\s*\+?[0-9]+\s*(KiB|MiB|GiB)$`), document.Whole(1))
})

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
	words := document.Strings(choices)
	either := strings.Join(words, " or ")
	return document.Then(word(either, ""), func(v value, text string) (T, bool) {
		if slices.Contains(words, text) {
			return T(text), true
		}
		v.Fault("wanted "+either+", found "+quote(text), document.DidYouMean(text, words))
		return "", false
	}).As(func() schema { return document.Enum(choices...) })
}
