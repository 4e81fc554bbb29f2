package config

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
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
	return decode(newSource(name, data), func(v value) {
		prompt := newPrompt("")
		readReview(v, to, prompt, fileName(to.Name), prompt.key())
	})
}

// readReview reads a review. The keys for its name, and for its prompt where
// that is not the text below the keys, depend on where it is written.
func readReview(v value, to *Review, prompt *prompt, keys ...field) {
	to.Pos = v.Position()
	if v.Mapping(to.fields(prompt, keys...)...); !prompt.given && v.Node.Kind() != document.Broken {
		v.Source.Fault(v, "the prompt is missing", "write what the reviewer should look for, or builtin: and one of "+strings.Join(Builtins(), ", "))
	}
	to.Prompt = prompt.String()
}

func (r *Review) fields(prompt *prompt, keys ...field) []field {
	return slices.Concat(r.Gate.fields(), keys, []field{
		prompt.builtinKey(),
		document.Key("cli_preference", &r.CLIPreference, someOf(preference(r.CLIPreference)), "A subset of cli.default_preference, which is the default."),
		document.Key("num_reviews", &r.NumReviews, count(1, maxReviews), "How many reviewers look at the change.").Default(1),
		document.Key("model", &r.Model, model(), "The model that the reviewer uses."),
	})
}

func reviewSchema(name field) schema {
	prompt := newPrompt("")
	s := document.Properties(newReview("", nil).fields(prompt, name, prompt.key())...)
	s["anyOf"] = []schema{{"required": []string{"prompt"}}, {"required": []string{"builtin"}}}
	return s.With("title", ".gauntlet/reviews/NAME.yml")
}

func reviewer() typeOf[string] { return oneOf(Reviewers()...) }

// preference reads one of the programs that the project allows. Where it
// allows none, that is a fault of its own.
func preference(allowed []string) typeOf[string] {
	return document.Then(reviewer(), func(v value, name string) (string, bool) {
		ok := len(allowed) == 0 || slices.Contains(allowed, name)
		if !ok {
			v.Fault(name+" is not in cli.default_preference", "add it there, or choose from: "+strings.Join(allowed, ", "))
		}
		return name, ok
	})
}

// model reads the name of a model, which becomes an argument of a program.
func model() typeOf[string] {
	return matching("^[A-Za-z0-9._:/@][A-Za-z0-9._:/@-]*$",
		"invalid model name %s", "use letters, digits and . _ : / @ -, and do not begin with -")
}
