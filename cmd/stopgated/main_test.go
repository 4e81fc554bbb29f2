//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

func TestRun(t *testing.T) {
	t.Setenv("STOPGATE_STATE_DIR", t.TempDir())
	for _, test := range []struct {
		args             string
		in               string
		code             int
		stdout, inStderr string
	}{
		{"version", "", 0, "stopgated ", ""},
		{"--version", "", 0, "stopgated ", ""},
		{"provider-check", "[]", 0, "", ""},
		{"provider-check", `[{"name":"a"}]`, 0, `{"name":"a","verdict":"rejected","detail":"no ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY","milliseconds":`, ""},
		{"provider-check", `[{"api_key":"hush"`, 1, "", "stopgated: standard input: not a JSON list of targets\n"},
		{"wake-send", "", 0, "", ""},
		{"daemon now", "", 2, "", "usage: stopgated daemon"},
		{"store-verify now", "", 2, "", "usage: stopgated daemon"},
		{"wake-send now", "", 2, "", "usage: stopgated daemon"},
		{"provider-check now", "[]", 2, "", "usage: stopgated daemon"},
		{"provider", "[]", 2, "", "usage: stopgated daemon"},
		{"", "", 2, "", "usage: stopgated daemon"},
	} {
		var out, errOut strings.Builder
		code := run(strings.Fields(test.args), strings.NewReader(test.in), &out, &errOut)
		if code != test.code || !strings.HasPrefix(out.String(), test.stdout) || (test.stdout == "") != (out.Len() == 0) {
			t.Errorf("%q: exit %d, %q", test.args, code, out.String())
		}
		if !strings.HasPrefix(errOut.String(), test.inStderr) || (test.inStderr == "") != (errOut.Len() == 0) || strings.Contains(errOut.String(), "hush") {
			t.Errorf("%q: %q", test.args, errOut.String())
		}
	}
}

// Only damage is damage: what cannot be looked at may be sound.
func TestStoreVerifyExitCodes(t *testing.T) {
	state := t.TempDir()
	t.Setenv("STOPGATE_STATE_DIR", state)
	db := filepath.Join(state, "stopgate.db")
	verify := func() (code int, text string) {
		var out, errOut strings.Builder
		code = run([]string{"store-verify"}, nil, &out, &errOut)
		return code, out.String() + errOut.String()
	}
	if code, text := verify(); code != 0 {
		t.Errorf("none: exit %d, %s", code, text)
	}
	check(t, os.WriteFile(db, []byte(strings.Repeat("no database ", 1000)), 0o600))
	if code, text := verify(); code != 1 || !strings.Contains(text, "damaged") {
		t.Errorf("damaged: exit %d, %s", code, text)
	}
	var errOut strings.Builder
	if code := run([]string{"store-verify"}, nil, brokenPipe{}, &errOut); code != 3 {
		t.Errorf("nobody reads: exit %d, %s", code, errOut.String())
	}
	t.Setenv("STOPGATE_STATE_DIR", "")
	t.Setenv("OJ_STATE_DIR", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	if code, text := verify(); code != 3 {
		t.Errorf("nowhere: exit %d, %s", code, text)
	}
}

func TestChildEnviron(t *testing.T) {
	got := childEnviron([]string{"A=1", "STOPGATE_INSIDE=1", readyVariable + "=3", "STOPGATE_STATE_DIR=/s", "TMUX=x"})
	if diff := cmp.Diff([]string{"A=1", "STOPGATE_STATE_DIR=/s"}, got); diff != "" {
		t.Error(diff)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestRunWithoutReader(t *testing.T) {
	var errOut strings.Builder
	if code := run([]string{"version"}, nil, brokenPipe{}, &errOut); code != 1 || errOut.String() != "stopgated: broken pipe\n" {
		t.Errorf("exit %d, %q", code, errOut.String())
	}
}
