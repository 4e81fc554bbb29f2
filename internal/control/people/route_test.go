package people

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

func ptr[T any](v T) *T { return &v }

func TestMessage(t *testing.T) {
	home := filepath.FromSlash("/home/me")
	for _, tt := range []struct {
		name        string
		message     Message
		title, body string
	}{
		{
			"decision",
			Message{Title: "Pipeline needs attention: fix", Text: "The agent tried to stop.", Project: "/home/me/code/shop", Decision: "a1-1", Link: "http://127.0.0.1:1/inbox/a1-1"},
			"Pipeline needs attention: fix",
			"The agent tried to stop.\nAnswer with: stopgate decision answer a1-1 …\nOpen: http://127.0.0.1:1/inbox/a1-1\nProject: " + filepath.FromSlash("~/code/shop"),
		},
		{"news", Message{Title: "fix", Text: "It is done.", Project: "/srv/x"}, "fix", "It is done.\nProject: " + filepath.FromSlash("/srv/x")},
		{"the home itself", Message{Text: "x", Project: "/home/me"}, "", "x\nProject: " + home},
		{"a neighbour", Message{Text: "x", Project: "/home/me2"}, "", "x\nProject: " + filepath.FromSlash("/home/me2")},
		{"nothing", Message{}, "", ""},
		{"lines and escapes", Message{Title: "a\r\nBcc: b", Text: "\x1b[31mred\x1b[0m\nProject: not ours"}, "a  Bcc: b", "red Project: not ours"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.message.Project = filepath.FromSlash(tt.message.Project)
			m := tt.message.plain(home)
			if diff := cmp.Diff([]string{tt.title, tt.body}, []string{m.Title, m.body()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMessageIsShort(t *testing.T) {
	long := strings.Repeat("ä", 3000)
	m := Message{Title: long, Text: long}.plain("")
	if a, b := len([]rune(m.Title)), len([]rune(m.Text)); a != maxTitle || b != maxText {
		t.Errorf("%d and %d characters are left", a, b)
	}
}
