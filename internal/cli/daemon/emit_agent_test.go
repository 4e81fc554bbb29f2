package daemon

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
)

func TestWhoIsMeant(t *testing.T) {
	state := t.TempDir()
	for id, session := range map[string]string{"aa11-first": "aa11-first", "bb22-second": "aa11-first", "aa33-other": "aa33-other"} {
		dir, err := agentdir.At(state, id)
		if err == nil {
			err = dir.SetSession(agentdir.Session{ID: session})
		}
		check(t, err)
	}
	for _, test := range []struct{ own, id, want string }{
		{"", "aa11-first", "aa11-first"},
		{"", "aa33", "aa33-other"},
		{"", "aa", ""}, // two begin so
		{"", "nobody", ""},
		{"bb22-second", "bb22-second", "bb22-second"},
		{"bb22-second", "bb", "bb22-second"},
		{"bb22-second", "aa11-first", "bb22-second"}, // its conversation knows the one before it
		{"bb22-second", "aa33-other", ""},
		{"bb22-second", "nobody", ""},
		{"of another state", "aa33-other", "aa33-other"},
	} {
		got, err := emitters{state: state, own: test.own}.meant(test.id)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q says %q: %q, %v", test.own, test.id, got, err)
		}
	}
}
