package daemon

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseSignal(t *testing.T) {
	for text, want := range map[string]agentSignal{
		"complete":                            {"complete", "", ""},
		" escalate\n":                         {"escalate", "", ""},
		"CONTINUE":                            {"continue", "", ""},
		`"complete"`:                          {"complete", "", ""},
		`{"kind":"complete"}`:                 {"complete", "", ""},
		`{"action":"escalate","message":"a"}`: {"escalate", "a", ""},
		`{"kind":"complete","action":"complete"}`:        {"complete", "", ""},
		`{"kind":"complete","more":[1]}`:                 {"complete", "", ""},
		`{"kind":"complete","message":null}`:             {"complete", "", ""},
		`{"kind":"escalate","message":"a\nb"}`:           {"escalate", "a\nb", ""},
		"fail":                                           {"fail", "", ""},
		`{"kind":"complete","data":{"pr":12,"url":"u"}}`: {"complete", "", `{"pr":12,"url":"u"}`},
		`{"kind":"complete","data":null}`:                {"complete", "", ""},
	} {
		if got, err := parseSignal(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                               "the signal is empty",
		" \n":                            "the signal is empty",
		"done":                           `unknown signal "done"`,
		"complete now":                   `unknown signal "complete now"`,
		"{":                              "not valid JSON",
		`{"kind":7}`:                     "not valid JSON",
		`{"kind":"complete"} x`:          "unexpected text after",
		`{}`:                             `has no "kind"`,
		`[]`:                             "unknown signal",
		`{"kind":"complete","data":[1]}`: "not valid JSON",
		`{"kind":"complete","data":{"x":"` + strings.Repeat("x", longestData) + `"}}`: "the limit is 16384",
		`{"kind":"stop"}`:                     `unknown signal "stop"`,
		`{"kind":"complete","action":"stop"}`: `its action is "stop"`,
		strings.Repeat("x", 100):              `unknown signal "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"`,
		`{"kind":"complete","message":"` + strings.Repeat("x", longestMessage+1) + `"}`: "65537 bytes; the limit is 65536",
	} {
		if got, err := parseSignal(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %+v, %v", text, got, err)
		}
	}
}

func FuzzParseSignal(f *testing.F) {
	for _, seed := range []string{"complete", `"escalate"`, `{"kind":"continue","message":"a\u0000b"}`, "{", "\xff", `{"kind":"complete"}{}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSignal(text)
		if err != nil {
			if s != (agentSignal{}) || strings.Contains(err.Error(), "\n") && !strings.Contains(text, "{") {
				t.Errorf("%+v, %v", s, err)
			}
			return
		}
		if s.kind != "complete" && s.kind != "escalate" && s.kind != "continue" {
			t.Errorf("kind %q", s.kind)
		}
		if len(s.message) > longestMessage || !utf8.ValidString(s.message) {
			t.Errorf("message %q", s.message)
		}
		if again, err := parseSignal(s.kind); err != nil || again.kind != s.kind {
			t.Errorf("the word alone: %+v, %v", again, err)
		}
	})
}

func TestIsToken(t *testing.T) {
	for word, want := range map[string]bool{
		"0d9a4d52-6f1e-5c3b-9a77-2f1d3c4b5a69": true, "a": true, "a.b:c_d": true, strings.Repeat("a", 128): true,
		"": false, "-a": false, "a b": false, "a/b": false, "a\nb": false, "ä": false, "a\x00": false, strings.Repeat("a", 129): false,
	} {
		if got := isToken(word); got != want {
			t.Errorf("%q: %t", word, got)
		}
	}
}
