package endpoint

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTargetOf(t *testing.T) {
	for _, test := range []struct {
		name string
		env  []string
		want Target
	}{
		{"nothing", nil, Target{Name: "p"}},
		{
			"everything",
			[]string{"ANTHROPIC_BASE_URL=https://h/a", "ANTHROPIC_AUTH_TOKEN=t", "ANTHROPIC_API_KEY=k", "ANTHROPIC_MODEL=glm-4.6", "OTHER=x"},
			Target{"p", "https://h/a", "t", "k", "glm-4.6"},
		},
		{"a long context is the client's affair", []string{"ANTHROPIC_MODEL=glm-4.6[1m]"}, Target{Name: "p", Model: "glm-4.6"}},
		{"a word of the client's", []string{"ANTHROPIC_MODEL=opus"}, Target{Name: "p"}},
		{"another", []string{"ANTHROPIC_MODEL=default"}, Target{Name: "p"}},
		{
			"a word with a meaning",
			[]string{"ANTHROPIC_MODEL=Sonnet[1m]", "ANTHROPIC_DEFAULT_SONNET_MODEL=kimi-k2[1m]", "ANTHROPIC_DEFAULT_OPUS_MODEL=no"},
			Target{Name: "p", Model: "kimi-k2"},
		},
		{"opusplan", []string{"ANTHROPIC_MODEL=opusplan", "ANTHROPIC_DEFAULT_OPUS_MODEL=big"}, Target{Name: "p", Model: "big"}},
		{"haiku", []string{"ANTHROPIC_MODEL=haiku", "ANTHROPIC_DEFAULT_HAIKU_MODEL=small"}, Target{Name: "p", Model: "small"}},
	} {
		if diff := cmp.Diff(test.want, TargetOf("p", test.env)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestFault(t *testing.T) {
	const noKey = "no ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY"
	for _, test := range []struct {
		target Target
		want   string
	}{
		{Target{APIKey: "k"}, ""},
		{Target{AuthToken: "t", BaseURL: "http://127.0.0.1:8080/"}, ""},
		{Target{AuthToken: "t\tt", BaseURL: "https://[::1]/api"}, ""},
		{Target{BaseURL: "https://h"}, noKey},
		{Target{}, noKey},
		{Target{APIKey: "k", BaseURL: "ftp://h"}, "ANTHROPIC_BASE_URL must begin with http:// or https://"},
		{Target{APIKey: "k", BaseURL: "api.example.com/v1"}, "ANTHROPIC_BASE_URL must begin with http:// or https://"},
		{Target{APIKey: "k", BaseURL: "https://"}, "ANTHROPIC_BASE_URL has no host"},
		{Target{APIKey: "k", BaseURL: "https://:443/x"}, "ANTHROPIC_BASE_URL has no host"},
		{Target{APIKey: "k", BaseURL: "https://user:hush hush@h"}, "ANTHROPIC_BASE_URL is not a URL"},
		{Target{APIKey: "k", BaseURL: "https://h\n"}, "ANTHROPIC_BASE_URL is not a URL"},
		{Target{AuthToken: "t\n"}, "ANTHROPIC_AUTH_TOKEN contains a control character or invalid UTF-8"},
		{Target{APIKey: "k\xff"}, "ANTHROPIC_API_KEY contains a control character or invalid UTF-8"},
		{Target{APIKey: "k\x7f"}, "ANTHROPIC_API_KEY contains a control character or invalid UTF-8"},
	} {
		got := ""
		if err := test.target.Fault(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: %q, not %q", test.target, got, test.want)
		}
	}
}

func TestURLAndEndpoint(t *testing.T) {
	for _, test := range []struct{ base, url, endpoint string }{
		{"", "https://api.anthropic.com/v1/models", "https://api.anthropic.com"},
		{"https://h/api/", "https://h/api/v1/models", "https://h"},
		{"http://h:8080", "http://h:8080/v1/models", "http://h:8080"},
		{"https://me:hush@h/api?k=hush", "https://me:hush@h/api?k=hush/v1/models", "https://h"},
		{"https://token.h/for/me", "https://token.h/for/me/v1/models", "https://[…].h"},
		{"nonsense", "nonsense/v1/models", ""},
	} {
		target := Target{BaseURL: test.base, AuthToken: "token"}
		if got := target.URL("/v1/models"); got != test.url {
			t.Errorf("URL of %q: %q", test.base, got)
		}
		if got := target.Endpoint(); got != test.endpoint {
			t.Errorf("endpoint of %q: %q", test.base, got)
		}
	}
}

func TestLine(t *testing.T) {
	target := Target{AuthToken: "tok", APIKey: `tok"en/1`, BaseURL: "https://me:hush@h"}
	for text, want := range map[string]string{
		"":                         "",
		"plain":                    "plain",
		"two\nlines \x1b[31mred":   "two lines red",
		"tok and tok":              "[…] and […]",
		`tok"en/1, tok\"en/1`:      "[…], […]",
		"tok%22en%2F1":             "[…]",
		"hush":                     "[…]",
		"t\x1b[0mo\x00k":           "[…]",
		strings.Repeat("ä", 200):   strings.Repeat("ä", 200),
		strings.Repeat("ä", 201):   strings.Repeat("ä", 199) + "…",
		strings.Repeat("x", 9<<20): strings.Repeat("x", 199) + "…",
	} {
		if got := target.Line(text); got != want {
			t.Errorf("%.40q: %q, not %q", text, got, want)
		}
	}
}

// A secret that the cut would halve must not show its first half.
func TestLineHidesBeforeItCuts(t *testing.T) {
	target := Target{APIKey: strings.Repeat("s3cret", 10)}
	for before := range 210 {
		if got := target.Line(strings.Repeat(".", before) + target.APIKey); strings.Contains(got, "s") {
			t.Fatalf("after %d characters: %q", before, got)
		}
	}
}

func FuzzTarget(f *testing.F) {
	f.Add("https://me:hush@h/a?b=c", "token", "says token\nand \x1b[31mhush")
	f.Add("://", "", "")
	f.Add("https://[::1", "t\"\\o", `t\"\\o`)
	f.Fuzz(func(t *testing.T, base, key, text string) {
		target := Target{BaseURL: base, APIKey: key}
		if err := target.Fault(); err == nil && target.Endpoint() == "" {
			t.Errorf("no fault in %q, and yet no endpoint", base)
		}
		line := target.Line(text)
		if utf8.RuneCountInString(line) > longest || strings.ContainsAny(line, "\n\r\x1b") {
			t.Errorf("%q", line)
		}
		for part := range strings.SplitSeq(line, "[…]") {
			if key != "" && utf8.ValidString(key) && strings.Contains(strings.TrimSuffix(part, "…"), key) {
				t.Errorf("%q shows %q", line, key)
			}
		}
	})
}
