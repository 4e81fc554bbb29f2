package trust

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func pin(script, configDir string) string { return Pin(".gauntlet", script, "/p", "/p", configDir) }

func TestPinLeavesOtherPathsAlone(t *testing.T) {
	for _, script := range []string{
		"", "make lint", "sub/.gauntlet/x.sh", "../.gauntlet/x.sh", ".././.gauntlet/x", "/other/.gauntlet/x.sh", "~/.gauntlet/x",
		"my.gauntlet/x", ".gauntlet.bak/x", ".gauntlet-old", ".gauntlets/x", "$OTHER/.gauntlet/x", `"$OTHER"/.gauntlet/x`,
		`sub".gauntlet/x"`, "'unbalanced", `trailing\`, "gauntlet_logs/x",
	} {
		if got := pin(script, "/state/copy"); got != script {
			t.Errorf("%q became %q", script, got)
		}
	}
}

// A backslash escapes nothing in single quotes: what follows the next one is outside of them.
func TestPinKnowsWhatIsQuoted(t *testing.T) {
	for script, want := range map[string]string{
		`echo 'a\' .gauntlet/x`:  `echo 'a\' '/a copy'/x`,
		`echo "a\" .gauntlet/x"`: `echo "a\" /a copy/x"`,
		`echo \' .gauntlet/x`:    `echo \' '/a copy'/x`,
	} {
		if got := pin(script, "/a copy"); got != want {
			t.Errorf("%q became %q, want %q", script, got, want)
		}
	}
}

func TestPinOnlyWhereTheCopyIsInForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script := rapid.StringOf(rapid.SampledFrom([]rune(".gauntlet/ '\"\\$x"))).Draw(t, "script")
		if got := pin(script, "/p/.gauntlet"); got != script {
			t.Fatalf("%q became %q", script, got)
		}
	})
}

// Whatever the script, nothing but the name itself is touched.
func TestPinTouchesNothingElse(t *testing.T) {
	words := rapid.SampledFrom([]string{".gauntlet", "/", " ", "'", `"`, `\`, "x", "$(", ")", "\n", "ü", "\xff", "#"})
	rapid.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOf(words).Draw(t, "script"), "")
		got := strings.ReplaceAll(pin(script, "/COPY"), "/COPY", ".gauntlet")
		if got != script {
			t.Fatalf("%q became %q", script, got)
		}
	})
}
