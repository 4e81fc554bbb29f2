//go:build unix

package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/keeper"
)

// pinned is a call in a project whose scripts were edited: the approved copy
// prints "approved", the live one "edited".
func pinned(t *testing.T, rootName, copyName string) *keeper.Call {
	t.Helper()
	call := newCall(t, stopPayload, "  {}\n")
	base := call.Project.Root
	call.Project.Root = filepath.Join(base, rootName)
	call.Project.ConfigDir = filepath.Join(base, copyName)
	for dir, word := range map[string]string{
		filepath.Join(call.Project.Root, ".gauntlet"): "edited",
		call.Project.ConfigDir:                        "approved",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "scripts"), 0o700); err != nil {
			t.Fatal(err)
		}
		script := "#!/bin/sh\necho " + word + "\n"
		if err := os.WriteFile(filepath.Join(dir, "scripts/x.sh"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	call.Env = append(call.Env, "CLAUDE_PROJECT_DIR="+call.Project.Root)
	return call
}

func TestRulingT4ScriptsRunFromTheApprovedCopy(t *testing.T) {
	scripts := []string{
		`.gauntlet/scripts/x.sh`,
		`./.gauntlet/scripts/x.sh`,
		`././.gauntlet/scripts/x.sh`,
		`sh .gauntlet/scripts/x.sh`,
		`sh	.gauntlet/scripts/x.sh`,
		`".gauntlet/scripts/x.sh"`,
		`'.gauntlet/scripts/x.sh'`,
		`"./.gauntlet/scripts/x.sh"`,
		`'./.gauntlet/scripts/x.sh'`,
		`sh ".gauntlet"/scripts/x.sh`,
		`sh '.gauntlet'/"scripts"/x.sh`,
		`"ROOT/.gauntlet/scripts/x.sh"`,
		`'ROOT/.gauntlet/scripts/x.sh'`,
		`"ROOT"/.gauntlet/scripts/x.sh`,
		`$CLAUDE_PROJECT_DIR/.gauntlet/scripts/x.sh`,
		`"$CLAUDE_PROJECT_DIR/.gauntlet/scripts/x.sh"`,
		`"$CLAUDE_PROJECT_DIR"/.gauntlet/scripts/x.sh`,
		`"${CLAUDE_PROJECT_DIR}/.gauntlet/scripts/x.sh"`,
		`"$PWD"/.gauntlet/scripts/x.sh`,
		"sh `pwd`/.gauntlet/scripts/x.sh",
		`cd .gauntlet/scripts && ../../.gauntlet/scripts/x.sh`,
		`$(pwd)/.gauntlet/scripts/x.sh`,
		`"$(pwd)/.gauntlet/scripts/x.sh"`,
		`cd .gauntlet && ./scripts/x.sh`,
		`cd "./.gauntlet" && ./scripts/x.sh`,
		`(cd .gauntlet; ./scripts/x.sh)`,
		`true && .gauntlet/scripts/x.sh`,
		`true;.gauntlet/scripts/x.sh`,
		`false||.gauntlet/scripts/x.sh`,
		"true\n.gauntlet/scripts/x.sh",
		`X=.gauntlet/scripts/x.sh; "$X"`,
		`PATH="$PATH":.gauntlet/scripts; x.sh`,
		`sh <.gauntlet/scripts/x.sh`,
		`echo $(.gauntlet/scripts/x.sh)`,
		`test -x .gauntlet/scripts/x.sh && .gauntlet/scripts/x.sh`,
		`"$CONCLAUDE_CONFIG_DIR"/scripts/x.sh`,
	}
	// A shell in the shell reads the path once more; only a plain one survives it.
	nested := []string{
		`echo "$(.gauntlet/scripts/x.sh)"`,
		"echo `.gauntlet/scripts/x.sh`",
		`sh -c '.gauntlet/scripts/x.sh'`,
		`sh -c 'sh .gauntlet/scripts/x.sh'`,
		`sh -c "sh '.gauntlet/scripts/x.sh'"`,
		`sh -c 'sh ".gauntlet/scripts/x.sh"'`,
		"# it's only a comment\n.gauntlet/scripts/x.sh",
	}
	for copyName, scripts := range map[string][]string{
		"state":                   append(scripts, nested...),
		"state of affairs":        scripts,
		"it's \"$HOME\" `x` \\n;": scripts,
		"straße":                  scripts,
	} {
		call := pinned(t, "project", copyName)
		for _, script := range scripts {
			script = strings.ReplaceAll(script, "ROOT", call.Project.Root)
			command := newCall(t, stopPayload, "  Stop: [{run: \"true\"}]\n").Project.Config.Hooks["Stop"][0]
			command.Run = script
			r := execute(t.Context(), call, command)
			if r.Tail != "approved" {
				t.Errorf("copy in %q: %s\ngot %q (%s), became %s", copyName, script, r.Tail, r.Result, pin(script, call.Project))
			}
		}
	}
}

func TestPinLeavesOtherPathsAlone(t *testing.T) {
	project := &keeper.Project{Root: "/p", ConfigDir: "/state/copy"}
	for _, script := range []string{
		"", "make lint", "sub/.gauntlet/x.sh", "../.gauntlet/x.sh", ".././.gauntlet/x", "/other/.gauntlet/x.sh", "~/.gauntlet/x",
		"my.gauntlet/x", ".gauntlet.bak/x", ".gauntlet-old", ".gauntlets/x", "$OTHER/.gauntlet/x", `"$OTHER"/.gauntlet/x`,
		`sub".gauntlet/x"`, "'unbalanced", `trailing\`, "gauntlet_logs/x",
	} {
		if got := pin(script, project); got != script {
			t.Errorf("%q became %q", script, got)
		}
	}
}

func TestPinOnlyWhereTheCopyIsInForce(t *testing.T) {
	project := &keeper.Project{Root: "/p", ConfigDir: "/p/.gauntlet"}
	rapid.Check(t, func(t *rapid.T) {
		script := rapid.StringOf(rapid.SampledFrom([]rune(".gauntlet/ '\"\\$x"))).Draw(t, "script")
		if got := pin(script, project); got != script {
			t.Fatalf("%q became %q", script, got)
		}
	})
}

// Whatever the script, nothing but the name itself is touched.
func TestPinTouchesNothingElse(t *testing.T) {
	project := &keeper.Project{Root: "/p", ConfigDir: "/COPY"}
	words := rapid.SampledFrom([]string{".gauntlet", "/", " ", "'", `"`, `\`, "x", "$(", ")", "\n", "ü", "\xff", "#"})
	rapid.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOf(words).Draw(t, "script"), "")
		got := strings.ReplaceAll(pin(script, project), "/COPY", ".gauntlet")
		if got != script {
			t.Fatalf("%q became %q", script, got)
		}
	})
}
