package config

import (
	"slices"
	"strings"
)

const maxReviews = 10

// Reviewers are the programs that can review, under the names that
// configuration files give them.
func Reviewers() []string {
	return []string{"claude", "codex", "gemini", "github-copilot", "cursor"}
}

// newReview is a review by the programs that the project prefers.
func newReview(name string, preference []string) *Review {
	gate := newGate(name)
	gate.Parallel = true
	return &Review{Gate: gate, CLIPreference: preference, NumReviews: 1}
}

// parseReviewMarkdown reads the content of a review's own file: the keys are its
// front matter and the rest is its prompt.
func parseReviewMarkdown(name string, data []byte, to *Review) error {
	return decodeMarkdown(name, data, func(v value, body string) {
		readReview(v, to, newPrompt(body), fileName(to.Name))
	})
}

// parseReviewYAML reads the content of a review's own file: all of it is keys.
func parseReviewYAML(name string, data []byte, to *Review) error {
	return decode(name, data, func(v value) {
		prompt := newPrompt("")
		readReview(v, to, prompt, fileName(to.Name), prompt.key())
	})
}

// readReview reads a review. The keys for its name, and for its prompt where
// that is not the text below the keys, depend on where it is written.
func readReview(v value, to *Review, prompt *prompt, keys ...field) {
	to.Pos = v.position()
	allowed := to.CLIPreference
	v.mapping(slices.Concat(to.fields(), keys, []field{
		{key: "builtin", read: prompt.readBuiltin},
		{key: "cli_preference", read: someOf(&to.CLIPreference, func(v value, to *string) bool {
			return readPreference(v, to, allowed)
		})},
		{key: "num_reviews", read: func(v value) { v.count(&to.NumReviews, 1, maxReviews) }},
		{key: "model", read: into(&to.Model, value.model)},
	})...)
	if !prompt.given && v.node != nil {
		v.d.fault(v.span(), "the prompt is missing", "write what the reviewer is to look for, or builtin: and one of "+strings.Join(Builtins(), ", "))
	}
	to.Prompt = prompt.String()
}

func readReviewer(v value, to *string) bool { return oneOf(v, to, Reviewers()...) }

// readPreference reads one of the programs that the project allows. Where it
// allows none, that is a fault of its own.
func readPreference(v value, to *string, allowed []string) bool {
	if !readReviewer(v, to) {
		return false
	}
	if len(allowed) > 0 && !slices.Contains(allowed, *to) {
		v.fault(*to+" is not in cli.default_preference", "add it there, or choose from: "+strings.Join(allowed, ", "))
		return false
	}
	return true
}

// model reads the name of a model, which becomes an argument of a program.
func (v value) model(to *string) bool {
	var name string
	if !v.text(&name) {
		return false
	}
	if name == "" || !madeOf(name, "._:/@-") || name[0] == '-' {
		v.fault(quote(name)+" is no name for a model", "use letters, digits and . _ : / @ -, and do not begin with -")
		return false
	}
	*to = name
	return true
}
