package hook

import "testing"

// A person approves what is shown: all of it, and nothing that looks like something else.
func TestPurposeHidesNothing(t *testing.T) {
	for _, test := range []struct{ tool, input, want string }{
		{"Read", `{"file_path":"a b"}`, "a b"},
		{"Bash", `{"command":"make","description":"x"}`, "make"},
		{"Bash", `{"command":"make","timeout":5}`, "make\n{\"timeout\":5}"},
		{"Bash", `{"command":"make","description":{"x":1}}`, "make\n{\"description\":{\"x\":1}}"},
		{"Bash", `{"command":7}`, `{"command":7}`},
		{"Bash", "{\"command\":\"a\u202eb\"}", `"a\u202eb"`},
		{"Bash", `{"command":"a\u001b[2Jb"}`, `"a\x1b[2Jb"`},
		{"Bash", `{"command":"a\tb\nc"}`, "a\tb\nc"},
		{"Edit", `{"file_path":"f","old_string":"a\nb\n","new_string":"c","replace_all":true}`, "f\n{\"replace_all\":true}\n- a\n- b\n+ c"},
		{"Write", `{"file_path":"f\n+ x","content":"y"}`, "\"f\\n+ x\"\n+ y"},
		{"Task", `{ "a": 1 }`, `{"a":1}`},
	} {
		if got := (ToolUse{ToolName: test.tool, ToolInput: []byte(test.input)}).Purpose(); got != test.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", test.tool, test.input, got, test.want)
		}
	}
}
