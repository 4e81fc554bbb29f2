package session

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/driver"
)

func TestParseOrder(t *testing.T) {
	for _, tt := range []struct {
		name, text, session string
		want                driver.Order
	}{
		{"object", `{"session":"a","commands":["/clear","two\nlines"]}`, "", driver.Order{Session: "a", Commands: []string{"/clear", "two\nlines"}}},
		{"array", ` ["x"] `, "a", driver.Order{Session: "a", Commands: []string{"x"}}},
		{"both name the session", `{"commands":["x"],"session":"a"}`, "a", driver.Order{Session: "a", Commands: []string{"x"}}},
		{"only the flag names it", `{"commands":["x"]}`, "a", driver.Order{Session: "a", Commands: []string{"x"}}},
		{"escapes", `{"session":"\u00e9","commands":["\ud83d\ude00 \ufffd"]}`, "", driver.Order{Session: "é", Commands: []string{"😀 \uFFFD"}}},
		{"byte order mark", "\uFEFF[\"x\"]", "a", driver.Order{Session: "a", Commands: []string{"x"}}},
		{"a sign for what is broken, written as it is", "[\"\uFFFD\"]", "a", driver.Order{Session: "a", Commands: []string{"\uFFFD"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseOrder("argument", []byte(tt.text), tt.session)
			check(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseOrderRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, session, want, hint string }{
		{"nothing", " \n", "", "argument is empty", orderExample},
		{"only a mark", "\uFEFF", "", "argument is empty", orderExample},
		{"no JSON", "/clear", "a", "argument is not a JSON object or array", orderExample},
		{"cut off", `{"session":"a","commands":["x"`, "", "argument:1:30: unexpected end of JSON input", orderExample},
		{"trailing comma", "[\n\"x\",\n]", "a", "argument:3:1: JSON has no trailing comma", orderExample},
		{"trailing data", `["x"] ["y"]`, "a", "argument:1:7: invalid character '[' after top-level value", orderExample},
		{"another kind", `"x"`, "a", "argument is not a JSON object or array", orderExample},
		{"null", `null`, "", "argument is not a JSON object or array", orderExample},
		{"whose", `["x"]`, "", "argument:1:1: an array of commands does not name the session", "--session NAME"},
		{"no session", `{"commands":["x"]}`, "", "argument:1:1: session is missing", orderExample},
		{"no commands", `{"session":"a"}`, "", "argument:1:1: commands is missing", orderExample},
		{"empty object", `{}`, "", "argument:1:1: session is missing", orderExample},
		{"empty session", `{"session":"","commands":["x"]}`, "", "argument:1:12: session must not be empty", orderExample},
		{"empty array", `{"session":"a","commands":[]}`, "", "argument:1:27: commands must not be empty", orderExample},
		{"empty array for the flag", `[]`, "a", "argument:1:1: commands must not be empty", orderExample},
		{"session of another kind", `{"session":7,"commands":["x"]}`, "", "argument:1:12: session must be a string, is a number", orderExample},
		{"commands of another kind", `{"session":"a","commands":"x"}`, "", "argument:1:27: commands must be an array of strings, is a string", orderExample},
		{"command of another kind", `["x",["y"]]`, "a", "argument:1:6: commands[1] must be a string, is an array", orderExample},
		{"no command", `["x",null]`, "a", "argument:1:6: commands[1] must be a string, is null", orderExample},
		{"misspelt key", `{"session":"a","comands":["x"]}`, "", `argument:1:16: unknown key "comands"`, "did you mean commands?"},
		{"a key of another case", `{"Session":"a","commands":["x"]}`, "", `argument:1:2: unknown key "Session"`, "did you mean session?"},
		{"unknown key", `{"session":"a","commands":["x"],"replace":true}`, "", `argument:1:33: unknown key "replace"`, orderExample},
		{"twice", `{"session":"a","commands":["x"],"commands":["y"]}`, "", `argument:1:33: duplicate key "commands"`, orderExample},
		{"two sessions", `{"session":"a","commands":["x"]}`, "b", `argument:1:12: session is "a", but --session "b"`, "name it once"},
		{"not UTF-8", "[\"x\xff\"]", "a", "argument: byte 4 is not UTF-8", orderExample},
		{"half of a character", `["x\ud800"]`, "a", `argument:1:2: commands[0] has an unpaired surrogate: \ud800 to \udfff are valid only in pairs`, orderExample},
		{"half of a character beside a sign for one", `["\uFFFD\uDC00"]`, "a", `argument:1:2: commands[0] has an unpaired surrogate: \ud800 to \udfff are valid only in pairs`, orderExample},
		{"deep", strings.Repeat("[", 20000), "a", "argument:1:10001: invalid character '[' exceeded max depth", orderExample},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseOrder("argument", []byte(tt.text), tt.session)
			var usage term.UsageError
			if !errors.As(err, &usage) {
				t.Fatalf("no usage error: %v", err)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
			if !strings.Contains(usage.Hint, tt.hint) {
				t.Errorf("the hint is %q", usage.Hint)
			}
		})
	}
}

// Whatever is taken for an order is what encoding/json reads from it, and is whole.
func FuzzOrder(f *testing.F) {
	for _, text := range []string{
		`{"session":"a","commands":["/clear","x"]}`, `["a","\ud83d\ude00"]`, `["\ud800"]`, `{"session":"a","session":"b"}`, "[\"\xff\"]", "\uFEFF[]", `[[[`, `{"Commands":[]}`,
	} {
		f.Add([]byte(text), "")
		f.Add([]byte(text), "s")
	}
	f.Fuzz(func(t *testing.T, text []byte, session string) {
		got, err := parseOrder("argument", text, session)
		if err != nil {
			var usage term.UsageError
			if !errors.As(err, &usage) || usage.Hint == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if got.Session == "" || len(got.Commands) == 0 {
			t.Fatalf("not whole: %+v", got)
		}
		want := driver.Order{Session: session}
		text = []byte(strings.TrimPrefix(string(text), "\uFEFF"))
		if json.Unmarshal(text, &want.Commands) != nil {
			check(t, json.Unmarshal(text, &want))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
