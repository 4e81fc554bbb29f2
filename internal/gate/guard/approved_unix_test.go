//go:build unix

package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/enclave"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// edited is a call in a project whose script was edited: the approved one prints
// "approved", the live one "edited".
func edited(t *testing.T) *keeper.Call {
	t.Helper()
	call := newCall(t, stopPayload, "  {}\n")
	root := call.Project.Root
	script := filepath.Join(root, ".gauntlet/scripts/x.sh")
	write := func(word string) {
		check(t, os.WriteFile(script, []byte("#!/bin/sh\necho "+word+"\n"), 0o700))
	}
	check(t, os.MkdirAll(filepath.Dir(script), 0o700))
	write("approved")
	store := trust.NewStore(t.TempDir())
	check(t, store.Approve(root, time.Now()))
	write("edited")
	standing, err := store.Standing(root)
	check(t, err)
	call.Project.Content = standing.Content
	call.Env = append(call.Env, "CLAUDE_PROJECT_DIR="+root)
	return call
}

func TestRulingT4ScriptsRunAsApproved(t *testing.T) {
	if err := enclave.Available(); err != nil {
		environtest.Missing(t, "private mount namespace", err)
	}
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
	// A shell in the shell.
	nested := []string{
		`echo "$(.gauntlet/scripts/x.sh)"`,
		"echo `.gauntlet/scripts/x.sh`",
		`sh -c '.gauntlet/scripts/x.sh'`,
		`sh -c 'sh .gauntlet/scripts/x.sh'`,
		`sh -c "sh '.gauntlet/scripts/x.sh'"`,
		`sh -c 'sh ".gauntlet/scripts/x.sh"'`,
		"# it's only a comment\n.gauntlet/scripts/x.sh",
	}
	call := edited(t)
	for _, script := range append(scripts, nested...) {
		script = strings.ReplaceAll(script, "ROOT", call.Project.Root)
		if r := execute(t.Context(), call, config.Command{Run: script}); r.Tail != "approved" {
			t.Errorf("%s\ngot %q (%s)", script, r.Tail, r.Result)
		}
	}
}
