package settings

import (
	"testing"

	"github.com/tailscale/hujson"
)

func TestWhichEntriesAreOurs(t *testing.T) {
	tests := map[string]bool{
		`{"type":"command","command":"stopgate","args":["hook","Stop"]}`:              true,
		`{"type":"command","command":"/a/b c/stopgate","args":["hook"]}`:              true,
		`{"type":"command","command":"C:\\bin\\stopgate.exe","args":["hook","Stop"]}`: true,
		`{"type":"command","command":"stopgate hook Stop"}`:                           true,
		`{"type":"command","command":" '/a b/stopgate'  hook Stop || true"}`:          true,
		`{"type":"command","command":"\"$HOME/bin/stopgate\" hook"}`:                  true,
		`{"type":"command","command":"stopgate","args":["hook",5],"timeout":"x"}`:     true,

		`{"type":"command","command":"conclaude","args":["Stop"]}`:     true,
		`{"type":"command","command":"'/a b/conclaude' Stop || true"}`: true,
		`{"type":"command","command":"conclaude hook Stop"}`:           true,

		`{"type":"command","command":"conclaude validate"}`:                   false,
		`{"type":"command","command":"conclaude","args":["log","Stop"]}`:      false,
		`{"type":"command","command":"stopgate Stop"}`:                        false,
		`{"type":"command","command":"stopgate","args":["stop-hook"]}`:        false,
		`{"type":"command","command":"stopgate","args":[]}`:                   false,
		`{"type":"command","command":"stopgate hook","args":[]}`:              false,
		`{"type":"command","command":"stopgate"}`:                             false,
		`{"type":"command","command":"stopgate hooks"}`:                       false,
		`{"type":"command","command":"my-stopgate hook"}`:                     false,
		`{"type":"command","command":"/stopgate/other hook"}`:                 false,
		`{"type":"command","command":"echo stopgate hook"}`:                   false,
		`{"type":"command","command":"\"/a b/stopgate hook"}`:                 false,
		`{"type":"command","command":"other","args":["hook","Stop"]}`:         false,
		`{"type":"command","command":"x stopgate hook","args":["hook"]}`:      false,
		`{"type":"prompt","command":"stopgate","args":["hook"],"prompt":"x"}`: false,
		`{"command":"stopgate hook"}`:                                         false,
		`{"type":"command","command":5}`:                                      false,
		`{}`:                                                                  false,
	}
	for text, want := range tests {
		v, err := hujson.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		object, _ := objectOf(&v)
		if _, got := readEntry("Stop", "", object); got != want {
			t.Errorf("%s: ours is %v", text, got)
		}
	}
}
