package supervisor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/sys/prose"
)

// Schema is what Claude Code has the reviewer answer.
const Schema = `{"type":"object","properties":{"completed":{"type":"boolean"},"feedback":{"type":"string"}},"required":["completed","feedback"]}`

// defaultFeedback is what an agent is told where the reviewer found no words.
const defaultFeedback = "请继续完成任务"

// Opinion is what the reviewer thinks, whatever words it used.
type Opinion struct {
	AllowStop bool
	Feedback  string // never blank when the stop is not allowed
	Source    string // structured, result, text or none: where the opinion was found
}

// The sources of an opinion, from the best on.
const (
	FromStructured = "structured" // the answer that meets the schema
	FromResult     = "result"     // JSON in the text of the result
	FromText       = "text"       // the text itself, which says nothing about the end of the work
	FromNothing    = "none"
)

// interpret finds the opinion in an answer. An answer that cannot be understood
// is one that does not allow the stop: its words are for the agent. Results that
// are errors (Err) are none of the reviewer's and must not come here.
func interpret(r claude.Result) Opinion {
	if v, ok := wholeVerdict(bytes.TrimSpace(r.Structured)); ok {
		return v.opinion(FromStructured)
	}
	text := strings.TrimFunc(r.Text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	if v, ok := findVerdict([]byte(text)); ok {
		return v.opinion(FromResult)
	}
	if text != "" {
		return Opinion{Feedback: text, Source: FromText}
	}
	if v, ok := looseVerdict(r.Structured); ok {
		return v.opinion(FromStructured)
	}
	return Opinion{Feedback: defaultFeedback, Source: FromNothing}
}

// looseVerdict is what a structured answer says that does not meet the schema: JSON
// in a string, or feedback alone.
func looseVerdict(structured json.RawMessage) (verdict, bool) {
	var text string
	if json.Unmarshal(structured, &text) == nil {
		return findVerdict([]byte(text))
	}
	var answer struct{ Feedback json.RawMessage }
	if json.Unmarshal(structured, &answer) != nil || answer.Feedback == nil {
		return verdict{}, false
	}
	return verdict{feedback: answer.Feedback}, true
}

func (v verdict) opinion(source string) Opinion {
	var feedback string
	_ = json.Unmarshal(v.feedback, &feedback) // what is no text is none
	o := Opinion{AllowStop: v.allow, Feedback: strings.TrimSpace(feedback), Source: source}
	if !o.AllowStop {
		o.Feedback = cmp.Or(o.Feedback, defaultFeedback)
	}
	return o
}

// findVerdict takes the last one that the reviewer gives, in a fence or in prose.
func findVerdict(text []byte) (verdict, bool) { return lastVerdict(withoutCode(text)) }

// withoutCode leaves out the fenced blocks of other languages: code that is quoted
// there is no answer. A fence that nobody closed is none.
func withoutCode(text []byte) (rest []byte) {
	var (
		ticks  int // of the fence that is open; 0: none
		code   bool
		quotes bool // it holds prose, which is an answer only at the end
		start  int  // of that fence
		taken  int  // up to where text has been taken
		pos    int
	)

	for line := range bytes.Lines(text) {
		begin := pos
		pos += len(line)
		run, info := fenceLine(line)
		switch {
		case ticks == 0 && run >= 3 && bytes.IndexByte(info, '`') < 0:
			tag, _, _ := strings.Cut(strings.ToLower(string(info)), " ")
			ticks, start = run, begin
			code, quotes = isCode(tag), isProse(tag)
		case ticks > 0 && run >= ticks && len(info) == 0:
			if code || quotes && len(bytes.TrimSpace(text[pos:])) > 0 {
				rest = append(append(rest, text[taken:start]...), '\n')
				taken = pos
			}
			ticks = 0
		}
	}
	return append(rest, text[taken:]...)
}

// isCode reports whether a fence with that tag holds neither an answer nor prose.
func isCode(tag string) bool {
	return !isProse(tag) && !slices.Contains([]string{"", "json", "jsonc", "json5"}, tag)
}

func isProse(tag string) bool { return slices.Contains([]string{"text", "txt", "md", "markdown"}, tag) }

// fenceLine counts the backticks that a line begins with. The info is what
// follows them.
func fenceLine(line []byte) (ticks int, info []byte) {
	line = bytes.TrimSpace(line)
	info = bytes.TrimLeft(line, "`")
	return len(line) - len(info), bytes.TrimSpace(info)
}

// verdict is a JSON object that says whether the work is done.
type verdict struct {
	allow      bool
	feedback   []byte // a JSON string, number or word; nil: none
	start, end int
}

// wholeVerdict is the verdict that all of the text is.
func wholeVerdict(text []byte) (verdict, bool) {
	v, ok := lastVerdict(text)
	return v, ok && v.start == 0 && v.end == len(text)
}

// maxDepth is far more than an answer nests.
const maxDepth = 100

// lastVerdict is the last object in a text that has a member completed or
// allow_stop which is true or false. Of objects in one another the outermost
// that has one counts: it ends last. Comments to the end of a line and commas
// before an end are taken, since models write them.
func lastVerdict(text []byte) (last verdict, found bool) {
	var open []draft
	s := prose.Scanner{
		Lenient: true,
		Depth:   maxDepth,
		Enter:   func() { open = append(open, draft{}) },
		Atom:    func(key string, token []byte) { open[len(open)-1].note(key, token) },
		Leave: func(start, end int, _ bool) {
			d := open[len(open)-1]
			open = open[:len(open)-1]
			if d.said {
				last, found = verdict{allow: !d.refused, feedback: d.feedback, start: start, end: end}, true
			}
		},
		GiveUp: func() { open = open[:0] },
	}
	s.Scan(text)
	return last, found
}

// draft is what an object has said so far.
type draft struct {
	said, refused bool // by completed or allow_stop
	feedback      []byte
}

// note keeps a value that is a part of a verdict. Of two that contradict each
// other the one that refuses counts.
func (d *draft) note(key string, token []byte) {
	switch key {
	case "completed", "allow_stop":
		yes, no := string(token) == "true", string(token) == "false"
		d.said = d.said || yes || no
		d.refused = d.refused || no
	case "feedback":
		d.feedback = token
	}
}
