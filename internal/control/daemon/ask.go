package daemon

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// asked is what an agent asks under a reference, for people. What cannot be read is
// asked all the same: the hook waits.
func asked(stateDir, agent, ref string) engine.Ask {
	dir, err := agentdir.At(stateDir, agent)
	if err != nil {
		return engine.Ask{}
	}
	a, err := dir.Asked(ref)
	if err != nil {
		return engine.Ask{}
	}
	return askOf(a)
}

// askOf makes of a tool's input what a person is asked. Input of another shape than the
// client's today is shown as it is.
func askOf(a agentdir.Asked) engine.Ask {
	ask := engine.Ask{Tool: a.Tool}
	switch a.Type {
	case "question":
		ask.Questions = questionsOf(a.Input)
	case "plan":
		ask.Plan = field(a.Input, "plan")
	}
	if ask.Plan == "" && ask.Questions == nil {
		ask.Input = purpose(a.Tool, a.Input)
	}
	return ask
}

func questionsOf(input []byte) (questions []engine.Question) {
	var asked struct {
		Questions []struct { // not the API's own: the client's other members are none of our business
			Question string          `json:"question"`
			Header   string          `json:"header"`
			Options  []engine.Choice `json:"options"`
			Several  bool            `json:"multiSelect"`
		} `json:"questions"`
	}
	if json.Unmarshal(input, &asked) != nil {
		return nil
	}
	for _, q := range asked.Questions {
		questions = append(questions, engine.Question{Question: q.Question, Header: q.Header, Options: q.Options, Multi: q.Several})
	}
	return questions
}

// purpose is what a tool is to be used for, all of it: nobody can permit what they do not
// see. Tools that are known are shown as people read them. What a command is described as
// is left out, since it need not be true.
func purpose(tool string, input []byte) string {
	switch tool {
	case "Read": // whichever part of the file
		return visible(named(field(input, "file_path")), input)
	case "Bash":
		return visible(joined(field(input, "command"), rest(input, "command", "description")), input)
	case "Edit":
		changes := marked("- ", field(input, "old_string")) + marked("+ ", field(input, "new_string"))
		return visible(joined(named(field(input, "file_path")), rest(input, "file_path", "old_string", "new_string", "description"), changes), input)
	case "Write":
		return visible(joined(named(field(input, "file_path")), rest(input, "file_path", "content", "description"), marked("+ ", field(input, "content"))), input)
	}
	return visible("", input)
}

// rest are the members of an input that are no texts under these names.
func rest(input []byte, shown ...string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return ""
	}
	for _, name := range shown {
		var text *string
		if json.Unmarshal(members[name], &text) == nil && text != nil {
			delete(members, name)
		}
	}
	if len(members) == 0 {
		return ""
	}
	text, err := json.Marshal(members)
	if err != nil {
		return compact(input)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// joined are texts below each other. Without the first, which says what it is about, there
// are none.
func joined(texts ...string) string {
	if texts[0] == "" {
		return ""
	}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n")
}

// named is a file's name, which must not look like several lines.
func named(file string) string {
	if strings.Contains(file, "\n") {
		return strconv.Quote(file)
	}
	return file
}

// marked puts a mark before each line.
func marked(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark) + "\n"
}

// visible is a text as somebody has to see it who is to allow it: with nothing in it that
// a terminal would hide. An empty one is all of the input.
func visible(text string, input []byte) string {
	text = strings.TrimSpace(text)
	if text == "" {
		text = compact(input)
	}
	if strings.ContainsFunc(text, hidden) {
		return strconv.Quote(text)
	}
	return text
}

// hidden reports whether a character is not to be seen where it stands, or moves others.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

func compact(input []byte) string {
	var text bytes.Buffer
	if json.Compact(&text, input) == nil {
		input = text.Bytes()
	}
	return strings.ToValidUTF8(string(input), "\uFFFD")
}

// field is a text of a JSON object; empty where there is none.
func field(input []byte, name string) string {
	var object map[string]json.RawMessage
	var text string
	if json.Unmarshal(input, &object) != nil || json.Unmarshal(object[name], &text) != nil {
		return ""
	}
	return text
}
