package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct{ text, front, body string }{
		{"", "", ""},
		{"Look.\n", "", "Look.\n"},
		{"---\na: b\n---\nLook.\n", "---\na: b\n", "Look.\n"},
		{"---\n---\nLook.", "---\n", "Look."},
		{"---  \na: b\n--- \t\nLook.", "---  \na: b\n", "Look."},
		{"---\na: b\n---", "---\na: b\n", ""},
		{"---\na: b\n---\nLook.\n---\nMore.\n", "---\na: b\n", "Look.\n---\nMore.\n"},
		{"---\na: |\n  ---\n ---\n---\nLook.", "---\na: |\n  ---\n ---\n", "Look."},
		{"----\nLook.", "", "----\nLook."},
		{"\n---\na: b\n---\n", "", "\n---\na: b\n---\n"},
		{"Look.\n---\na: b\n---\n", "", "Look.\n---\na: b\n---\n"},
	} {
		front, body, ok := cutFrontMatter(c.text)
		if front != c.front || body != c.body || !ok {
			t.Errorf("%q: got %q, %q, %v", c.text, front, body, ok)
		}
	}
	for _, text := range []string{"---", "---\n", "---\na: b\n", "---\nLook.\n ---\n"} {
		if front, body, ok := cutFrontMatter(text); ok {
			t.Errorf("%q: got %q, %q", text, front, body)
		}
	}
}

func TestReviewMarkdown(t *testing.T) {
	preference := []string{"claude", "codex"}
	for name, c := range map[string]struct {
		text string
		want func(*Review)
	}{
		"no front matter":    {"Look.\n", func(r *Review) { r.Pos.Line, r.Pos.Column = 1, 1 }},
		"empty front matter": {"---\n---\n\nLook.\n\n", func(r *Review) { r.Pos.Line, r.Pos.Column = 1, 1 }},
		"BOM and CRLF":       {"\ufeff---\r\nname: style\r\n---\r\nLook.\r\n", func(r *Review) { r.Pos.Line, r.Pos.Column = 2, 1 }},
		"everything": {
			"---\nname: style\nparallel: false\nrun_in_ci: false\nrun_locally: false\ntimeout: 60\non_error: block\ncache: false\n" +
				"inputs: [src/**]\nenv: [LANG]\ntools: [go version]\ncli_preference: [codex]\nnum_reviews: 2\nmodel: gpt-5.1/x:y@z\n---\nLook.",
			func(r *Review) {
				r.Pos.Line, r.Pos.Column = 2, 1
				r.Parallel, r.RunInCI, r.RunLocally, r.Cache = false, false, false, false
				r.Timeout, r.OnError = 60e9, BlockOnError
				r.Inputs, r.Env, r.Tools = []string{"src/**"}, []string{"LANG"}, []string{"go version"}
				r.CLIPreference, r.NumReviews, r.Model = []string{"codex"}, 2, "gpt-5.1/x:y@z"
			},
		},
		"built-in": {"---\nbuiltin: security\n---\n", func(r *Review) {
			r.Pos.Line, r.Pos.Column = 2, 1
			text, _ := Builtin("security")
			r.Prompt = strings.TrimSpace(text)
		}},
		"built-in and more": {"---\nbuiltin: security\n---\nLook.\n", func(r *Review) {
			r.Pos.Line, r.Pos.Column = 2, 1
			text, _ := Builtin("security")
			r.Prompt = text + "\nLook."
		}},
		"blank lines": {"Look" + strings.Repeat("\n", 1000) + "here.\n", func(r *Review) {
			r.Pos.Line, r.Pos.Column = 1, 1
			r.Prompt = "Look" + strings.Repeat("\n", 1000) + "here."
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := newReview("style", preference)
			want.Prompt, want.Pos.File = "Look.", "style.md"
			c.want(want)
			got := newReview("style", preference)
			check(t, parseReviewMarkdown("style.md", []byte(c.text), got))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The keys mean the same in both kinds of files.
func TestReviewYAMLMeansTheSame(t *testing.T) {
	front := rapid.SampledFrom([]string{"parallel: false\n", "num_reviews: 3\n", "timeout: 5s\n", "builtin: code-quality\n", "env: [A, B]\n"})
	rapid.Check(t, func(t *rapid.T) {
		keys := strings.Join(rapid.SliceOfNDistinct(front, 1, 5, rapid.ID).Draw(t, "keys"), "")
		body := rapid.StringMatching(`[a-z]([a-z ]*[a-z])?`).Draw(t, "body")
		markdown, yaml := newReview("x", nil), newReview("x", nil)
		if err := parseReviewMarkdown("x", []byte("---\n"+keys+"---\n"+body), markdown); err != nil {
			t.Fatal(err)
		}
		if err := parseReviewYAML("x", []byte("#\n"+keys+"prompt: '"+body+"'\n"), yaml); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(markdown, yaml); diff != "" {
			t.Fatalf("(-markdown +yaml):\n%s", diff)
		}
	})
}
