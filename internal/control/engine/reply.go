package engine

import (
	"slices"
	"strconv"
	"strings"
)

// Cancels reports whether an answer cancels everything, which no agent has to hear of. A
// choice of the agent's that reads like that does not.
func (d *Decision) Cancels(a Answer) bool {
	c, err := d.choose(a)
	return err == nil && c.does == optCancel
}

// reply understands the answer to an agent's questions.
func (d *Decision) reply(a Answer) (choice, error) {
	var questions []Question
	if d.Ask != nil {
		questions = d.Ask.Questions
	}

	given := a.Answers
	if a.Option != "" {
		given = append([]string{a.Option}, given...)
	}
	cancel := len(d.Options) - 1
	if len(given) == 1 && given[0] == d.Options[cancel].Name {
		return choice{does: optCancel, option: given[0], message: a.Message}, nil
	}

	switch {
	case len(questions) > 1:
		return d.replies(questions, given, a.Message)
	case len(given) == 0 && a.Message != "":
		return choice{message: a.Message, answers: []string{a.Message}}, nil
	case len(given) > 1:
		return choice{}, invalid("there is one question: choose one of %s, or several separated by commas", d.names())
	case len(given) == 0:
		return choice{}, invalid("choose one of %s, or give a message", d.names())
	}

	if len(questions) == 1 {
		if label, known := pick(questions[0], sound(given[0])); known {
			words := label
			if a.Message != "" {
				words = colon(label, a.Message)
			}
			return choice{option: label, message: a.Message, answers: []string{words}}, nil
		}
	}

	i, err := d.find(strings.TrimSpace(sound(given[0])))
	if err != nil || i != cancel {
		return choice{}, invalid("unknown option %q: choose one of %s, or answer in free text with a message", clip(given[0], 80), d.names())
	}
	return choice{does: optCancel, option: d.Options[cancel].Name, message: a.Message}, nil
}

// replies understands the answers to several questions. What is no choice is words; a
// question can be left without an answer.
func (d *Decision) replies(questions []Question, given []string, message string) (choice, error) {
	if message != "" || len(given) != len(questions) {
		return choice{}, invalid("there are %d questions: give one answer for each, or %s", len(questions), d.names())
	}
	var c choice
	for i, text := range given {
		words, known := pick(questions[i], sound(text))
		if !known {
			words = strings.TrimSpace(sound(text))
		}
		c.answers = append(c.answers, words)
	}
	if strings.Join(c.answers, "") == "" {
		return choice{}, invalid("the answers are missing")
	}
	return c, nil
}

// pick finds the choices that a text names, by label or number; several with commas
// between, where several can be chosen.
func pick(q Question, text string) (string, bool) {
	text = strings.TrimSpace(text)
	if label, known := labelOf(q, text); known || !q.Multi {
		return label, known
	}
	var labels []string
	for parts := strings.Split(text, ","); len(parts) > 0; {
		label, n := firstChoice(q, parts)
		if n == 0 {
			return "", false
		}
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
		parts = parts[n:]
	}
	return strings.Join(labels, ", "), true
}

// firstChoice is the choice that the first n parts of a text name, which may have commas itself;
// the longest that there is.
func firstChoice(q Question, parts []string) (label string, n int) {
	longest := 0
	for _, c := range q.Options {
		longest = max(longest, strings.Count(c.Label, ",")+1)
	}
	for n = min(longest, len(parts)); n > 0; n-- {
		if label, known := labelOf(q, strings.TrimSpace(strings.Join(parts[:n], ","))); known {
			return label, n
		}
	}
	return "", 0
}

// labelOf is the label of the choice that a text names.
func labelOf(q Question, text string) (string, bool) {
	for _, same := range []func(label string) bool{
		func(label string) bool { return label == text },
		func(label string) bool { return text != "" && strings.EqualFold(label, text) },
	} {
		if i := slices.IndexFunc(q.Options, func(c Choice) bool { return same(c.Label) }); i >= 0 {
			return q.Options[i].Label, true
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].Label, true
	}
	return "", false
}
