package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// captured reads the payloads that the real client sent.
func captured(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/payloads/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captured payloads: %v", err)
	}
	out := make(map[string][]byte)
	for _, file := range files {
		data, err := os.ReadFile(file)
		check(t, err)
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = data
	}
	return out
}

func compileSchema(t testing.TB, e Event) *jsonschema.Schema {
	t.Helper()
	text, err := Schema(e)
	check(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	check(t, err)
	c := jsonschema.NewCompiler()
	check(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	check(t, err)
	return s
}

// schemaAccepts runs the schema over a document that is JSON.
func schemaAccepts(t testing.TB, s *jsonschema.Schema, data []byte) bool {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	return s.Validate(doc) == nil
}

func TestCapturedPayloadsDecodeReencodeAndPassTheirSchema(t *testing.T) {
	seen := map[Event]bool{}
	for name, data := range captured(t) {
		t.Run(name, func(t *testing.T) {
			p, err := Decode(data, "")
			check(t, err)
			if reflect.TypeOf(p) == reflect.TypeFor[*Base]() {
				t.Errorf("%s has no type of its own", p.Event())
			}
			seen[p.Event()] = true
			if _, err := Decode(data, p.Event()); err != nil {
				t.Errorf("with the event given: %v", err)
			}
			encoded, err := Encode(p)
			check(t, err)
			if diff := cmp.Diff(tree(t, data), tree(t, encoded)); diff != "" {
				t.Errorf("lost on the way (-in +out):\n%s", diff)
			}
			if !schemaAccepts(t, compileSchema(t, p.Event()), data) {
				t.Error("its schema refuses it")
			}
		})
	}
	for _, e := range Typed() {
		if !seen[e] {
			t.Errorf("no captured payload of %s", e)
		}
	}
}

func tree(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	check(t, json.Unmarshal(data, &v))
	return v
}

func TestUnknownFieldsKeepTheirPlaceAndValue(t *testing.T) {
	const in = `{"zeta":{"a":[1,2.50,null]},"session_id":"s","transcript_path":"t","hook_event_name":"Stop","new_in_3":"x","cwd":"/c","stop_hook_active":false}`
	p, err := Decode([]byte(in), Stop)
	check(t, err)
	out, err := Encode(p)
	check(t, err)
	if string(out) != in {
		t.Errorf("got  %s\nwant %s", out, in)
	}
}

func TestEncodeWritesChangedFields(t *testing.T) {
	p, err := Decode([]byte(`{"session_id":"s","transcript_path":"t","hook_event_name":"Stop","cwd":"/c","stop_hook_active":false}`), Stop)
	check(t, err)
	p.(*StopPayload).StopHookActive = true
	p.Common().PromptID = "p"
	out, err := Encode(p)
	check(t, err)
	const want = `{"session_id":"s","transcript_path":"t","hook_event_name":"Stop","cwd":"/c","stop_hook_active":true,"prompt_id":"p"}`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
}

func TestUnknownEventDecodesToTheBaseFields(t *testing.T) {
	p, err := Decode([]byte(`{"session_id":"s","transcript_path":"t","hook_event_name":"Brandnew","cwd":"/c","extra":1}`), "")
	check(t, err)
	if p.Event() != "Brandnew" || p.Common().CWD != "/c" || p.Subjects() != nil {
		t.Errorf("got %+v", p)
	}
}

// valid is a SubagentStop payload with nothing wrong.
const valid = `{"session_id":"abc123","transcript_path":"/tmp/main.json","hook_event_name":"SubagentStop","cwd":"/home/user/project","stop_hook_active":true,"agent_id":"coder","agent_transcript_path":"/tmp/agent.json"}`

// edit changes one field of the valid payload; a nil value removes it.
func edit(t testing.TB, changes map[string]any) []byte {
	t.Helper()
	var doc map[string]any
	check(t, json.Unmarshal([]byte(valid), &doc))
	for key, value := range changes {
		if value == nil {
			delete(doc, key)
		} else {
			doc[key] = value
		}
	}
	out, err := json.Marshal(doc)
	check(t, err)
	return out
}

func TestFaultsAreToldAllAtOnceAndTheSchemaAgrees(t *testing.T) {
	null := json.RawMessage("null")
	tests := []struct {
		name   string
		change map[string]any
		faults []string
	}{
		{"nothing wrong", nil, nil},
		{"missing id", map[string]any{"agent_id": nil}, []string{"missing required field: agent_id"}},
		{"null id", map[string]any{"agent_id": null}, []string{"missing required field: agent_id"}},
		{"empty id", map[string]any{"agent_id": ""}, []string{"agent_id is required and cannot be empty"}},
		{"blank id", map[string]any{"agent_id": " \t\n"}, []string{"agent_id is required and cannot be empty"}},
		{"unicode blank id", map[string]any{"agent_id": "\u00a0\u2003\u0085\v"}, []string{"agent_id is required and cannot be empty"}},
		{"zero width is not blank", map[string]any{"agent_id": "\u200b"}, nil},
		{"padded id", map[string]any{"agent_id": "  coder  "}, nil},
		{"number id", map[string]any{"agent_id": 7}, []string{"agent_id must be a string, not a number"}},
		{"object id", map[string]any{"agent_id": map[string]any{}}, []string{"agent_id must be a string, not an object"}},
		{"missing path", map[string]any{"agent_transcript_path": nil}, []string{"missing required field: agent_transcript_path"}},
		{"empty path", map[string]any{"agent_transcript_path": ""}, []string{"agent_transcript_path is required and cannot be empty"}},
		{"missing flag", map[string]any{"stop_hook_active": nil}, []string{"missing required field: stop_hook_active"}},
		{"text flag", map[string]any{"stop_hook_active": "yes"}, []string{"stop_hook_active must be a boolean, not a string"}},
		{"empty session", map[string]any{"session_id": ""}, []string{"session_id is required and cannot be empty"}},
		{"array tasks wanted", map[string]any{"background_tasks": "none"}, []string{"background_tasks must be an array, not a string"}},
		{"null tasks", map[string]any{"background_tasks": null}, nil},
		{"empty type, as the summariser", map[string]any{"agent_type": ""}, nil},
		{"number type", map[string]any{"agent_type": 1}, []string{"agent_type must be a string, not a number"}},
		{"another event", map[string]any{"hook_event_name": "Stop"}, []string{`hook_event_name is "Stop", but SubagentStop was called`}},
		{
			"everything missing",
			map[string]any{
				"session_id": nil, "transcript_path": nil, "hook_event_name": nil, "cwd": nil,
				"stop_hook_active": nil, "agent_id": nil, "agent_transcript_path": nil,
			},
			[]string{
				"missing required field: session_id", "missing required field: transcript_path",
				"missing required field: hook_event_name", "missing required field: cwd",
				"missing required field: stop_hook_active", "missing required field: agent_id",
				"missing required field: agent_transcript_path",
			},
		},
		{
			"of all kinds, in field order",
			map[string]any{"agent_transcript_path": "", "agent_id": nil, "cwd": 5},
			[]string{
				"cwd must be a string, not a number", "missing required field: agent_id",
				"agent_transcript_path is required and cannot be empty",
			},
		},
	}
	schema := compileSchema(t, SubagentStop)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := edit(t, tt.change)
			_, err := Decode(data, SubagentStop)
			if diff := cmp.Diff(tt.faults, faultsOf(t, err)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if accepted := schemaAccepts(t, schema, data); accepted != (err == nil) {
				t.Errorf("decoder: %v; schema accepts: %t", err, accepted)
			}
		})
	}
}

func faultsOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	e, ok := err.(*PayloadError)
	if !ok {
		t.Fatalf("not a PayloadError: %v", err)
	}
	return e.Faults
}

func TestTextThatIsNoPayload(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	for name, tt := range map[string]struct{ in, want string }{
		"empty":            {"", "it is empty"},
		"blank":            {" \n", "it is empty"},
		"array":            {"[]", "it is not a JSON object"},
		"text":             {`"Stop"`, "it is not a JSON object"},
		"number":           {"1", "it is not a JSON object"},
		"null":             {"null", "it is not a JSON object"},
		"not JSON":         {"hello", "it is not valid JSON"},
		"truncated":        {valid[:len(valid)-10], "it ends in the middle"},
		"truncated key":    {`{"session_`, "it ends in the middle"},
		"two objects":      {valid + valid, "something follows the JSON object"},
		"trailing text":    {valid + "x", "something follows the JSON object"},
		"invalid UTF-8":    {strings.Replace(valid, "coder", "c\xffder", 1), "it is not valid UTF-8"},
		"duplicate key":    {strings.Replace(valid, `"agent_id"`, `"agent_id":"other","agent_id"`, 1), "duplicate field: agent_id"},
		"deeply nested":    {`{"x":` + deep + `}`, "it is not valid JSON"},
		"case is not ours": {strings.Replace(valid, "agent_id", "Agent_ID", 1), "missing required field: agent_id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(tt.in), SubagentStop)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "invalid SubagentStop payload: ") {
				t.Errorf("it does not say which payload: %v", err)
			}
		})
	}
}

// A fault may quote the payload, but never much of it.
func TestFaultsStayShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	_, err := Decode(edit(t, map[string]any{"hook_event_name": long, "agent_id": 1}), SubagentStop)
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

func TestSubjects(t *testing.T) {
	for _, e := range Events() {
		if e.HasSubject() != (newPayload(e).Subjects() != nil) {
			t.Errorf("%s", e)
		}
	}
	p, err := Decode(edit(t, map[string]any{"agent_type": "reviewer"}), SubagentStop)
	check(t, err)
	if diff := cmp.Diff([]string{"reviewer", "coder"}, p.Subjects()); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, data := range captured(f) {
		f.Add(data, "")
	}
	f.Add([]byte(valid), "SubagentStop")
	f.Add([]byte(`{"a":1,"a":2}`), "Stop")
	schemas := map[Event]*jsonschema.Schema{}
	for _, e := range Typed() {
		schemas[e] = compileSchema(f, e)
	}
	f.Fuzz(func(t *testing.T, data []byte, want string) {
		p, err := Decode(data, Event(want))
		if err != nil {
			if len(faultsOf(t, err)) == 0 {
				t.Fatalf("an error without a fault: %v", err)
			}
			return
		}
		out, err := Encode(p)
		if err != nil {
			t.Fatalf("cannot encode what was decoded: %v", err)
		}
		if diff := cmp.Diff(tree(t, data), tree(t, out)); diff != "" {
			t.Fatalf("lost on the way:\n%s", diff)
		}
		if s := schemas[p.Event()]; s != nil && !schemaAccepts(t, s, data) {
			t.Fatal("the decoder accepts what the schema refuses")
		}
	})
}

// What a fault quotes of a payload cannot steer a terminal, and is short.
func TestFaultsQuoteNoControlCharacters(t *testing.T) {
	const hostile = "x\x1b[2Jy\rz\x00\u009b\u202e\u2028\x7f\n"
	name, err := json.Marshal(hostile)
	check(t, err)
	long, err := json.Marshal(strings.Repeat("é", 1000))
	check(t, err)
	for payload, want := range map[string]Event{
		`{"hook_event_name":` + string(name) + `}`:        "",
		`{"hook_event_name":` + string(name) + `} `:       Stop,
		`{` + string(name) + `:1,` + string(name) + `:2}`: Stop,
		`{"hook_event_name":` + string(long) + `}`:        "",
		`{` + string(long) + `:1,` + string(long) + `:2}`: Stop,
	} {
		_, err := Decode([]byte(payload), want)
		if err == nil {
			t.Errorf("%.60s is taken", payload)
			continue
		}
		text := err.Error()
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(text) {
			t.Errorf("a terminal would obey %q", text)
		}
		if strings.Count(text, "é") > 64 {
			t.Errorf("%d bytes are quoted", len(text))
		}
	}
}

// A person is told from the client by the prompt's text alone.
func TestE3WhoWroteAPrompt(t *testing.T) {
	for prompt, want := range map[string]bool{
		"<task-notification>\n<task-id>":                                                 true,
		" \n<task-notification>":                                                         true,
		"<task-notification id=\"b2\">\n<status>":                                        true,
		"[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated":                   true,
		"<teammate-message teammate_id=\"zed\">done</teammate-message>":                  true,
		"Another Claude session sent a message:\n<teammate-message teammate_id=\"zed\">": true,
		"Another Claude session sent a message while you were working:\nlook":            true,
		"A peer session sent a message while you were working:\nlook":                    true,
		"<cross-session-message from=\"a\">look</cross-session-message>":                 true,
		"<\\cross-session-message from=\"a\">look":                                       true,
		"<agent-message from=\"review\">3 findings</agent-message>":                      true,
		"[Subagent hand-back]\n<agent-message from=\"review\">":                          true,
		"<scheduled-task name=\"nightly\">This is an automated run":                      true,
		"<system-reminder>\nStop hook":                                                   true,
		"<local-command-stdout>Set model</local-command-stdout>":                         true,
		"<local-command-caveat>Caveat":                                                   true,
		"<bash-stdout>a.go</bash-stdout>":                                                true,

		"":                           false,
		"<task":                      false,
		"<task-notifications>":       false,
		"see <task-notification>":    false,
		"<\\task-notification> what": false, // typed
		"<bash-input>ls</bash-input><bash-stdout>a.go</bash-stdout>":  false, // typed behind "!"
		"<div> is not closed, fix it":                                 false,
		"Another Claude session sent a message: what does that mean?": false,
		"/loop 5m make test":                                          false,
		"[SYSTEM":                                                     false,
	} {
		if got := (&UserPromptSubmitPayload{Prompt: prompt}).Automatic(); got != want {
			t.Errorf("%q: %t", prompt, got)
		}
	}
}

func TestIssue19FilesOfAToolCall(t *testing.T) {
	for input, want := range map[string][]string{
		`{"file_path":"a"}`:                                      {"a"},
		`{"file_path":"a","path":[1]}`:                           {"a"},
		`{"file_path":{"x":1},"path":"a"}`:                       {"a"},
		`{"path":["a","","b"],"notebook_path":"c"}`:              {"a", "b", "c"},
		`{"source":"a","destination":"b","path":null}`:           {"a", "b"},
		`{"old_path":"a","new_path":"b","file_path":""}`:         {"a", "b"},
		`{"paths":["a","b"]}`:                                    {"a", "b"},
		`{"files":[{"path":"a","content":"x"},{"path":"b"}]}`:    {"a", "b"},
		`{"edits":[{"filePath":"a","text":"x"}],"dry-run":true}`: {"a"},
		`{"operation":{"kind":"write","relative_path":"a"}}`:     {"a"},
		`{"content":"path","text":["a"]}`:                        nil,
		`{"command":"a"}`:                                        nil,
		`["file_path"]`:                                          nil,
		``:                                                       nil,
	} {
		if got := (ToolUse{ToolInput: json.RawMessage(input)}).Files(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// Tools of editors and language servers name files by their URIs.
func TestE5FilesAreNamedByURIs(t *testing.T) {
	for input, want := range map[string][]string{
		`{"uri":"file:///w/a%20b"}`: {"/w/a b"},
		`{"path":"FILE://localhost/w/a","documentUri":"file:/w/b","uris":["file:///c:/d"]}`:      {"/w/a", "/w/b", "c:/d"},
		`{"documentChanges":[{"textDocument":{"uri":"file:///w/100%"},"edits":[]}]}`:             {"/w/100%"},
		`{"uri":"https://example.com/file:///a","file_url":"file://","url":"a","path":"file:a"}`: {"file:a"},
	} {
		if got := (ToolUse{ToolInput: json.RawMessage(input)}).Files(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// Tools of MCP servers have names of their own for what names a file.
func TestIssue19FieldsThatNameFiles(t *testing.T) {
	for _, key := range []string{
		"file", "files", "path", "paths", "file_path", "file_paths", "filename", "fileNames", "notebook_path", "relative-path", "source", "source_path", "destination", "destinationPath",
		"old_path", "new_path", "target_file", "target_path", "outputPath",
	} {
		if got := (ToolUse{ToolInput: json.RawMessage(`{"` + key + `":"a"}`)}).Files(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: %q", key, got)
		}
	}
	nested := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"a":`, n) + `{"path":"a"}` + strings.Repeat("}", n))
	}
	if got := (ToolUse{ToolInput: nested(6)}).Files(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("6 levels: %q", got)
	}
	if got := (ToolUse{ToolInput: nested(5000)}).Files(); got != nil { // each level is read once more
		t.Errorf("5000 levels: %q", got)
	}
}

func TestIssue19AnEditOfNothingCreates(t *testing.T) {
	for input, want := range map[string]bool{
		`{"file_path":"a","old_string":"","new_string":"x"}`:             true,
		`{"file_path":"a","edits":[{"old_string":"","new_string":"x"}]}`: true,
		`{"file_path":"a","old_string":"y","new_string":""}`:             false,
		`{"file_path":"a"}`: false,
		`{"file_path":"a","edits":[{"old_string":"y","new_string":"x"}]}`: false,
		`[]`: false,
	} {
		if got := (ToolUse{ToolInput: json.RawMessage(input)}).Creates(); got != want {
			t.Errorf("%s: %t", input, got)
		}
	}
}

func TestBackground(t *testing.T) {
	var tasks []json.RawMessage
	for _, task := range []string{
		`{"id":"a","type":"subagent","status":"running","description":"lab subagent","agent_type":"general-purpose"}`,
		`{"type":"shell","status":"running","command":"make serve"}`,
		`{"type":"subagent","status":"completed","description":"over"}`,
		`{"type":"subagent","status":"failed","description":"over"}`,
		`{}`, `"text"`, `{"type":5}`,
	} {
		tasks = append(tasks, json.RawMessage(task))
	}
	want := []string{"subagent running: lab subagent", "shell running: make serve", "task open: no description", "task open: no description", "task open: no description"}
	if diff := cmp.Diff(want, (&StopPayload{BackgroundTasks: tasks}).Background()); diff != "" {
		t.Error(diff)
	}
}
