package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Plan is what ExitPlanMode proposes; empty where the input does not say.
func (u ToolUse) Plan() string { return textIn(u.ToolInput, "plan") }

// Purpose is what a tool is to be used for, all of it: people cannot permit what they do not
// see. Tools that are known are shown as people read them. What a command is described as
// is left out, since it need not be true.
func (u ToolUse) Purpose() string {
	input := u.ToolInput
	switch u.ToolName {
	case "Read": // whichever part of the file
		return visible(named(textIn(input, "file_path")), input)
	case "Bash":
		return visible(joined(textIn(input, "command"), rest(input, "command", "description")), input)
	case "Edit":
		changes := marked("- ", textIn(input, "old_string")) + marked("+ ", textIn(input, "new_string"))
		return visible(joined(named(textIn(input, "file_path")), rest(input, "file_path", "old_string", "new_string", "description"), changes), input)
	case "Write":
		return visible(joined(named(textIn(input, "file_path")), rest(input, "file_path", "content", "description"), marked("+ ", textIn(input, "content"))), input)
	}
	return visible("", input)
}

// rest are the members of an input but for the texts under these names.
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

// visible is a text as a person has to see it who is to allow it: with nothing in it that
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

// textIn is a text of a JSON object; empty where there is none.
func textIn(input []byte, name string) string {
	var object map[string]json.RawMessage
	var text string
	if json.Unmarshal(input, &object) != nil || json.Unmarshal(object[name], &text) != nil {
		return ""
	}
	return text
}
