package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Rule answers questions that Claude Code asks.
type Rule struct {
	Question string   // a pattern over the question or its header; upper and lower case are the same
	Answer   []string // labels of options
	List     bool     // the answer is a list: only for questions that take several
	Text     string   // free text instead of options
}

// maxRules bounds what one question costs.
const maxRules = 1000

// rules reads the rules for questions. With a fault there are none: without one rule
// a later one might answer in its place.
func (r *reader) rules(v *hujson.Value, path string) []Rule {
	a, ok := jsonfile.ArrayOf(v)
	if !ok {
		r.fault(v, path, jsonfile.MustBe("an array", v), "")
		return nil
	}
	if len(a.Elements) > maxRules {
		r.fault(v, path, fmt.Sprintf("has %d rules, which is more than %d", len(a.Elements), maxRules), "")
		return nil
	}

	before := r.Count
	var rules []Rule
	for i := range a.Elements {
		at := fmt.Sprintf("%s[%d]", path, i)
		o, ok := jsonfile.ObjectOf(&a.Elements[i])
		if !ok {
			r.fault(&a.Elements[i], at, jsonfile.MustBe("an object", &a.Elements[i]), "")
			continue
		}
		rules = append(rules, r.rule(o, &a.Elements[i], at))
	}

	if r.Count > before {
		rules = nil
	}
	for i, o := range jsonfile.Objects(a) {
		r.slips(o, fmt.Sprintf("%s[%d].", path, i), []string{"question", "answer", "text"}, nil)
	}
	return rules
}

func (r *reader) rule(o *hujson.Object, v *hujson.Value, at string) Rule {
	var rule Rule
	question, answer, text := jsonfile.Member(o, "question"), jsonfile.Member(o, "answer"), jsonfile.Member(o, "text")
	if question != nil {
		rule.Question = r.text(question, at+".question")
	}
	r.need(v, at+".question", rule.Question, question, `"*" matches every question`)
	switch {
	case answer != nil && text != nil:
		r.fault(text, at+".text", "cannot be combined with answer", "answer names options, text is typed instead")
	case text != nil:
		rule.Text = r.text(text, at+".text")
		r.filled(text, at+".text", []string{rule.Text})
	case answer != nil && jsonfile.KindOf(answer) == '[':
		rule.Answer, rule.List = r.texts(answer, at+".answer"), true
		r.filled(answer, at+".answer", rule.Answer)
	case answer != nil:
		rule.Answer = []string{r.text(answer, at+".answer")}
		r.filled(answer, at+".answer", rule.Answer)
	default:
		r.fault(v, at+".answer", "is missing", "name an option in answer, or write text")
	}
	return rule
}

// filled wants more than white space, where the type is right.
func (r *reader) filled(v *hujson.Value, path string, texts []string) {
	blank := slices.ContainsFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" })
	if kind := jsonfile.KindOf(v); (kind == '"' || kind == '[' || kind == 'n') && (blank || len(texts) == 0) {
		r.fault(v, path, "must not be empty", "")
	}
}

// Answer answers a call of AskUserQuestion by the rules: the input as it came, with the
// answers added as Claude Code takes them. Where one question has no answer, the call
// has none, and a person decides.
func (a OutsideAgent) Answer(toolInput json.RawMessage) (updated json.RawMessage, ok bool) {
	if len(a.Answers) == 0 {
		return nil, false
	}
	use := hook.ToolUse{ToolInput: toolInput}
	questions, _ := use.Questions()
	if len(questions) == 0 || use.HasAnswers() {
		return nil, false
	}
	answers := map[string]string{}
	for _, q := range questions {
		answer, ok := a.answer(q)
		if _, twice := answers[q.Text]; !ok || twice {
			return nil, false
		}
		answers[q.Text] = answer
	}
	return use.WithAnswers(answers)
}

// answer answers one question by the first rule that is for it.
func (a OutsideAgent) answer(q hook.Question) (answer string, ok bool) {
	if q.Text == "" || garbled(q.Text) {
		return "", false
	}
	i := slices.IndexFunc(a.Answers, func(r Rule) bool {
		return matches(r.Question, q.Text, sameLetter) || q.Header != "" && matches(r.Question, q.Header, sameLetter)
	})
	if i < 0 {
		return "", false
	}
	return a.Answers[i].choose(q)
}

// choose gives the rule's answer in the words of the question.
func (r Rule) choose(q hook.Question) (answer string, ok bool) {
	if r.Text != "" {
		return r.Text, true
	}
	if r.List && !q.Several {
		return "", false
	}
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	var chosen []string
	for _, wanted := range r.Answer {
		label, ok := pick(labels, wanted)
		if !ok || garbled(label) {
			return "", false
		}
		if !slices.Contains(chosen, label) {
			chosen = append(chosen, label)
		}
	}
	return strings.Join(chosen, ", "), true
}

// pick finds the label that is wanted: exactly, else the only one that differs in
// upper and lower case.
func pick(labels []string, wanted string) (label string, ok bool) {
	if slices.Contains(labels, wanted) {
		return wanted, true
	}
	found := 0
	for _, l := range labels {
		if strings.EqualFold(l, wanted) {
			label, found = l, found+1
		}
	}
	return label, found == 1
}

// garbled reports whether a text may not be what Claude Code has: it knows halves of
// characters, which we cannot write.
func garbled(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }
