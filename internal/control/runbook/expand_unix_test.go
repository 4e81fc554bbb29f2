//go:build unix

package runbook

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Between double quotes a shell hands on exactly the value, whatever is in it.
func TestShellDoesNotObeyValues(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, value string) {
		script := ExpandShell(`printf %s "<${var.x}>"; printf %s "$(printf %s "${var.x}")."`, map[string]string{"var.x": value})
		out, err := exec.Command("sh", "-c", script).CombinedOutput()
		// $( ) drops line feeds at the end, of any value.
		if want := "<" + value + ">" + strings.TrimRight(value, "\n") + "."; err != nil || string(out) != want {
			t.Errorf("%q: %q, %v", value, out, err)
		}
	}
	for _, value := range []string{
		"", "a b", `"; echo no; "`, "$(echo no)", "`echo no`", "${HOME}", "$HOME", `\`, `\\"`, `\$(echo no)`, "a\nb\n", "!!", "'", "*", "~", "é日本", "\x01\x7f\xff", "${var.x}", "-n",
	} {
		check(t, value)
	}
	// Few runs, since each is a process; the fuzzer has more.
	letters := rapid.StringOf(rapid.SampledFrom([]rune("\\$`\"'(){};|&<>!*?~# \n\tabé")))
	rapid.Check(t, func(t *rapid.T) { check(t, letters.Draw(t, "value")) })
}
