package cost

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/project/config"
)

// rates are US dollars for a million tokens.
type rates struct{ input, output, read, write, writeHour float64 }

// listed is a model of Anthropic's price list.
type listed struct {
	name   string // what its names have in common
	prompt int64  // up to so many tokens of input, the cache's included; 0 is any number
	rates
}

// list is the price list of Anthropic's API as of October 2026. Writing to the cache costs 1.25 times
// the input, and twice that where it is kept for an hour; reading mostly a tenth.
func list() []listed {
	usual := func(name string, prompt int64, input, output, read float64) listed {
		return listed{name, prompt, rates{input, output, read, 1.25 * input, 2 * input}}
	}
	return []listed{
		usual("fable-5-1", 0, 10, 50, 0.25),
		usual("mythos-5-1", 0, 10, 50, 0.25),
		usual("fable-5", 0, 10, 50, 1),
		usual("mythos-5", 0, 10, 50, 1),
		usual("opus-5-5", 0, 4, 20, 0.20),
		usual("opus-5", 0, 5, 25, 0.50),
		usual("opus-4-8", 0, 5, 25, 0.50),
		usual("opus-4-7", 0, 5, 25, 0.50),
		usual("opus-4-6", 0, 5, 25, 0.50),
		usual("opus-4-5", 0, 5, 25, 0.50),
		usual("opus-4-1", 0, 15, 75, 1.50),
		usual("opus-4", 0, 15, 75, 1.50),
		usual("sonnet-5-5", 0, 2, 10, 0.20),
		usual("sonnet-5", 0, 2, 10, 0.20),
		usual("sonnet-4-6", 0, 3, 15, 0.30),
		usual("sonnet-4-5", 200_000, 3, 15, 0.30),
		usual("sonnet-4-5", 0, 6, 22.50, 0.60),
		usual("sonnet-4", 200_000, 3, 15, 0.30),
		usual("sonnet-4", 0, 6, 22.50, 0.60),
		usual("haiku-5-5", 100_000, 0.10, 0.50, 0.01),
		usual("haiku-5-5", 0, 0.50, 2.50, 0.05),
		usual("haiku-4-5", 0, 1, 5, 0.10),
	}
}

const (
	// fast is how much more the fast mode costs, at most.
	fast = 6
	// search is what one search of the web costs, in US dollars.
	search = 0.01
)

// is reports whether a model's name has that of a listed one in it, and not the number of
// another version behind it: opus-5 is no opus-5-7, but may have a date.
func (l listed) is(model string) bool {
	_, rest, found := strings.Cut(strings.ToLower(model), l.name)
	rest, dashed := strings.CutPrefix(rest, "-")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	const date = len("20261015")
	return found && (digits == 0 || dashed && digits >= date)
}

// price is what a model costs for one message: what the configuration says, else the list,
// else the dearest of the list.
func price(own []config.Price, model string, u usage) rates {
	for _, p := range own {
		if matches(p.Model, model) {
			return rates{p.Input, p.Output, or(p.CacheRead, p.Input/10), or(p.CacheWrite, 1.25*p.Input), or(p.CacheWrite, 2*p.Input)}
		}
	}
	found := dearest()
	for _, l := range list() {
		if l.is(model) && (l.prompt == 0 || u.prompt() <= l.prompt) {
			found = l.rates
			break
		}
	}
	if u.Fast {
		found = rates{fast * found.input, fast * found.output, fast * found.read, fast * found.write, fast * found.writeHour}
	}
	return found
}

// matches compares a name with a pattern. A slash in it is no more than a letter.
func matches(pattern, model string) bool {
	flat := func(text string) string { return strings.ReplaceAll(text, "/", "\x00") }
	found, err := doublestar.Match(flat(pattern), flat(model))
	return found && err == nil
}

func or(amount *float64, usual float64) float64 {
	if amount != nil {
		return *amount
	}
	return usual
}

// dearest is what a model costs that nobody knows, so that a budget errs on the safe side.
func dearest() (d rates) {
	for _, l := range list() {
		d = rates{
			max(d.input, l.input), max(d.output, l.output), max(d.read, l.read),
			max(d.write, l.write), max(d.writeHour, l.writeHour),
		}
	}
	return d
}
