package launch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoose(t *testing.T) {
	const two = `"providers":{"kimi":{},"glm":{}}`
	for _, tt := range []struct {
		name, text, named, want, err, hint string
	}{
		{name: "named", text: `{` + two + `}`, named: "glm", want: "glm"},
		{name: "named, another is current", text: `{` + two + `,"current_provider":"kimi"}`, named: "glm", want: "glm"},
		{name: "current", text: `{` + two + `,"current_provider":"kimi"}`, want: "kimi"},
		{name: "the only one", text: `{"providers":{"glm":{}}}`, want: "glm"},
		{name: "unknown", text: `{` + two + `}`, named: "fix it", err: `there is no provider "fix it" in ccc.json; available: glm, kimi`},
		{name: "nearly", text: `{` + two + `}`, named: "glmm", err: "there is no provider glmm in ccc.json; available: glm, kimi", hint: "did you mean glm?"},
		{name: "unknown, though there is a current one", text: `{` + two + `,"current_provider":"kimi"}`, named: "x", err: "there is no provider x in ccc.json; available: glm, kimi"},
		{name: "current that does not exist", text: `{` + two + `,"current_provider":"former"}`, err: "current_provider in ccc.json is former, which does not exist; available: glm, kimi"},
		{name: "which", text: `{` + two + `}`, err: "no provider chosen: ccc.json does not set current_provider; available: glm, kimi"},
		{name: "none at all", text: `{}`, err: "ccc.json has no providers", hint: minimal("ccc.json")},
		{name: "none at all, one is named", text: `{}`, named: "glm", err: "there is no provider glm in ccc.json", hint: minimal("ccc.json")},
		{name: "a name with a new line", text: `{"providers":{"a\nb":{},"c":{}}}`, named: "x\x1b[2J", err: `there is no provider "x\x1b[2J" in ccc.json; available: "a\nb", c`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parsed(t, tt.text).Choose(tt.named)
			if got != tt.want {
				t.Errorf("got %q", got)
			}
			if tt.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e, ok := errors.AsType[ConfigError](err)
			if !ok || e.Error() != tt.err || e.Hint != tt.hint {
				t.Errorf("got %v\nhint %s", err, e.Hint)
			}
		})
	}
}

func TestEnvironmentOfProvider(t *testing.T) {
	const secret = "s3cr3t"
	variables := []string{"KEY=" + secret, "EMPTY=", "HOME=/home/me", "azAZ_09=all", "zA=low", "_Z=under", "Z=high"}
	for _, tt := range []struct {
		name, text string
		want       map[string]string
		err        string
	}{
		{name: "nothing", text: `{"providers":{"p":{}}}`, want: map[string]string{}},
		{name: "the provider's over everybody's", text: `{"settings":{"env":{"A":"1","B":"1"}},"providers":{"p":{"env":{"B":"2"}}}}`, want: map[string]string{"A": "1", "B": "2"}},
		{name: "values", text: `{"providers":{"p":{"env":{"N":8.50,"T":true,"F":false,"S":"ä\n"}}}}`, want: map[string]string{"N": "8.50", "T": "true", "F": "false", "S": "ä\n"}},
		{
			name: "variables", text: `{"providers":{"p":{"env":{"A":"$KEY","B":"x${KEY}y","C":"$$KEY","D":"$EMPTY","E":"1$","F":"$5 $-","G":"$HOME/x$HOME"}}}}`,
			want: map[string]string{"A": secret, "B": "x" + secret + "y", "C": "$KEY", "D": "", "E": "1$", "F": "$5 $-", "G": "/home/me/x/home/me"},
		},
		{
			name: "all that a name may hold", text: `{"providers":{"p":{"env":{"A":"$azAZ_09:$zA:$_Z.$Z/"}}}}`,
			want: map[string]string{"A": "all:low:under.high/"},
		},
		{
			name: "variables that are not set", text: `{"settings":{"env":{"A":"$GONE","B":"$GONE"}},"providers":{"p":{"env":{"B":"$KEY","C":"` + secret + `${MISSING}"}}}}`,
			err: "provider p: A: the variable GONE is not set\nprovider p: C: the variable MISSING is not set",
		},
		{
			name: "braces", text: `{"providers":{"p":{"env":{"A":"` + secret + `${","B":"${}","C":"${A-B}","D":"${KEY"}}}}`,
			err: "provider p: A: BRACES\nprovider p: B: BRACES\nprovider p: C: BRACES\nprovider p: D: BRACES",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parsed(t, tt.text).Environment("p", variables)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			want := strings.ReplaceAll(tt.err, "BRACES", "${ must be followed by a name and }; write $$ for a dollar sign")
			if (err == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows a value: %v", err)
			}
			if _, again := parsed(t, tt.text).ClaudeEnviron("p", variables); (again == nil) != (err == nil) {
				t.Errorf("Claude Code's environment: %v", again)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	c := parsed(t, `{"settings":{"env":{"A":"$GONE"}},"providers":{"p":{"env":{"B":"$SET$EMPTY","C":"${GONE}$","D":"${"}}}}`)
	getenv := func(name string) string { return map[string]string{"SET": "x"}[name] }
	if diff := cmp.Diff([]string{"GONE", "EMPTY"}, c.Unset("p", getenv)); diff != "" {
		t.Error(diff)
	}
}

func TestLiteralSurvivesExpansion(t *testing.T) {
	for _, value := range []string{"", "$", "$$", "$A", "${A}", "a$", "$$A$$", "${"} {
		got, err := expand(literal(value), func(string) (string, bool) { return "", false })
		if err != nil || got != value {
			t.Errorf("%q became %q, %v", value, got, err)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$", "$$", "${A}", "$A", "${", "a$$b${B}c", "$É"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if got, err := expand(literal(value), func(string) (string, bool) { return "x", true }); err != nil || got != value {
			t.Errorf("%q became %q, %v", value, got, err)
		}
		_, _ = expand(value, func(name string) (string, bool) {
			if name == "" || nameLength(name) != len(name) {
				t.Errorf("looked for %q", name)
			}
			return name, true
		})
	})
}

func TestMergedSettings(t *testing.T) {
	c := parsed(t, `{
		"settings": {"env": {"A": "1"}, "permissions": {"allow": ["a"], "deny": ["b"]}, "model": "x", "n": 1.50},
		"providers": {"p": {"env": {"B": "2"}, "permissions": {"allow": ["c"], "more": {"d": null}}, "model": {"e": 1}}}
	}`)
	before, _ := json.Marshal(c.Settings)
	got, err := json.Marshal(c.MergedSettings("p"))
	must(t, err)
	const want = `{"model":{"e":1},"n":1.50,"permissions":{"allow":["c"],"deny":["b"],"more":{"d":null}}}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
	if after, _ := json.Marshal(c.Settings); string(before) != string(after) {
		t.Errorf("the settings for all became %s", after)
	}
}
