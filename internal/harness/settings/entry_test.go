package settings

import (
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
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

		`{"type":"command","command":"conclaude","args":["Stop"]}`:            false,
		`{"type":"command","command":"'/a b/conclaude' Stop || true"}`:        false,
		`{"type":"command","command":"conclaude hook Stop"}`:                  false,
		`{"type":"command","command":"./stopgate hook Stop"}`:                 false,
		`{"type":"command","command":"bin/stopgate","args":["hook","Stop"]}`:  false,
		`{"type":"command","command":"agent-gauntlet stop-hook"}`:             false,
		`{"type":"command","command":"\"$BIN\"/../bin/stopgate hook Stop"}`:   false,
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
		check(t, err)
		object, _ := jsonfile.ObjectOf(&v)
		if got := readEntry("Stop", "", object).ours(); got != want {
			t.Errorf("%s: ours is %v", text, got)
		}
	}
}

func TestWhichEntriesCallTheSupervisor(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"command","command":"/usr/local/bin/ccc supervisor-hook"}`:      true,
		`{"type":"command","command":"stopgate supervisor-hook"}`:                true,
		`{"type":"command","command":"'/a b/ccc' supervisor-hook "}`:             true,
		`{"type":"command","command":"'/it'\\''s/ccc' supervisor-hook"}`:         true,
		`{"type":"command","command":"\"C:\\a b\\ccc.exe\" supervisor-hook"}`:    true,
		`{"type":"command","command":"/a/ccc","args":["supervisor-hook"]}`:       true,
		`{"type":"command","command":"/own/name supervisor-hook","timeout":"x"}`: true,
		`{"type":"command","command":"'/own/name' supervisor-hook"}`:             true,
		`{"type":"command","command":"/other/name supervisor-hook"}`:             false,
		`{"type":"command","command":"name supervisor-hook"}`:                    false,
		`{"type":"command","command":"ccc supervisor-hook || true"}`:             false,
		`{"type":"command","command":"ccc","args":["supervisor-hook","x"]}`:      false,
		`{"type":"command","command":"ccc supervisor-hook","args":[]}`:           false,
		`{"type":"command","command":"ccc supervisor"}`:                          false,
		`{"type":"command","command":"ccc hook"}`:                                false,
		`{"type":"command","command":"stopgate hook supervisor-hook"}`:           false,
		`{"type":"command","command":"supervisor-hook"}`:                         false,
		`{"type":"command","command":"X=1 ccc supervisor-hook"}`:                 false,
		`{"type":"prompt","command":"ccc supervisor-hook","prompt":"x"}`:         false,
		`{"type":"command","command":"my-ccc supervisor-hook"}`:                  false,
		`{}`: false,
	} {
		v, err := hujson.Parse([]byte(text))
		check(t, err)
		object, _ := jsonfile.ObjectOf(&v)
		e := readEntry("Stop", "", object)
		if got := e.CallsSupervisor("/own/name"); got != want {
			t.Errorf("%s: ours is %v", text, got)
		}
		if strings.Contains(text, "/own/name") && e.CallsSupervisor() {
			t.Errorf("%s: ours without being told", text)
		}
		if e.Event = hook.SubagentStop; e.CallsSupervisor() {
			t.Errorf("%s: ours on another event", text)
		}
	}
}
