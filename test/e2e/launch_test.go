//go:build unix

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// launches are the two ways in which ccc starts a client.
var launches = map[string][]string{"plain": plainly, "supervised": supervised}

func TestLauncherPrintsWhatTheClientPrints(t *testing.T) {
	t.Parallel()
	for name, launch := range launches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(nil)
			b.API.Script(claudeapi.Always(claudeapi.Text("Hello to you.")))
			b.API.On(byReviewer, claudeapi.Always(done))
			through := func(args ...string) outcome {
				return b.Exec(launch[0], append(slices.Clone(launch[1:]), args...)...).mustPass(t)
			}
			direct := b.Exec("claude", "-p", "hi", "--output-format", "json").mustPass(t)
			if got, want := keys(t, through("-p", "hi", "--output-format", "json").Stdout), keys(t, direct.Stdout); !slices.Equal(got, want) {
				t.Errorf("members %q, want %q", got, want)
			}
			if got := through("-p", "hi").Stdout; got != "Hello to you.\n" {
				t.Errorf("printed %q", got)
			}
		})
	}
}

// keys are the names in the one object that a text is.
func keys(t testing.TB, text string) []string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	if object["type"] != "result" || strings.Count(strings.TrimSpace(text), "\n") != 0 {
		t.Errorf("%q is no single result", text)
	}
	return slices.Sorted(maps.Keys(object))
}

func TestClientsEndIsTheLaunchersEnd(t *testing.T) {
	t.Parallel()
	for name, launch := range launches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(nil)
			failing := []string{"-p", "hi", "--resume", "00000000-0000-4000-8000-000000000000"}
			want := b.Exec("claude", failing...)
			got := b.Exec(launch[0], append(slices.Clone(launch[1:]), failing...)...)
			if want.Code == 0 || got.Code != want.Code || got.Stdout != want.Stdout || !strings.HasSuffix(got.Stderr, want.Stderr) {
				t.Errorf("the client ends with %+v, the launcher with %+v", want, got)
			}

			// One that can end in other ways, and is the very process that was started.
			odd := filepath.Join(b.Tmp, "odd")
			b.Write(odd, "#!/bin/sh\necho $$ \"$@\"\necho complaint >&2\nexit 7\n")
			b.Exec("chmod", "755", odd).mustPass(t)
			b.Env = append(b.Env, "CCC_CLAUDE="+odd)
			cmd := b.Command(launch[0], append(slices.Clone(launch[1:]), "a b", "--", "", "--version")...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if code := exitCode(t, cmd, err); code != 7 {
				t.Errorf("exit %d\n%s", code, &stderr)
			}
			if want := strconv.Itoa(cmd.Process.Pid) + " a b --  --version\n"; string(out) != want {
				t.Errorf("the client got %q, want %q", out, want)
			}
			if !strings.HasSuffix(stderr.String(), "complaint\n") || name == "plain" && stderr.String() != "complaint\n" {
				t.Errorf("stderr %q", &stderr)
			}
		})
	}
}

// What is inherited would lead the client, and its reviewer, to another endpoint.
func TestProviderDecidesWhereTheClientGoes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	b.Env = append(b.Env, "ANTHROPIC_BASE_URL=http://127.0.0.1:9", "ANTHROPIC_AUTH_TOKEN=of-another", "ANTHROPIC_MODEL=of-another")
	b.API.On(byReviewer, done)
	if h := b.Run("hello"); h.Code != 0 || h.Reply().IsError {
		t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
	}
	b.wantReviews(1)
	for _, r := range b.API.Requests() {
		if r.Model == "of-another" {
			t.Error("the model is another's")
		}
	}
}

func TestPlainLaunchBesideAClientLeavesItSupervised(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	b.API.On(byReviewer, done, done)
	living := b.Start()
	living.Send("one")
	living.WaitReply()

	b.Client = plainly
	b.Run("hello")
	b.wantReviews(1)
	b.wantEntry(true)

	living.Send("two")
	living.WaitReply()
	b.wantReviews(2)
	if h := living.Close(); h.Code != 0 {
		t.Errorf("exit %d\n%s", h.Code, h.Stderr)
	}
	b.Run("hello")
	b.wantReviews(2)
	b.wantEntry(false)
}

// own is a settings file that a person wrote, in a person's way.
const own = `{
    "model":   "claude-opus-4-8",
  "hooks": { "Stop": [ {"hooks":[{"type":"command","command":"echo ran >>$TMPDIR/runs"}]}
	],   "SessionEnd":[]},

  "permissions": {"allow": [ "Read" ] } }`

func TestPersonsSettingsSurviveALaunch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	hook := b.runs()
	settings := b.claudeFile("settings.json")
	b.Write(settings, own)
	b.API.On(byReviewer, done)

	b.Run("hello")
	b.wantReviews(1)
	b.wantEntry(true)
	hook.want(t, 1)
	first, err := os.ReadFile(settings)
	check(t, err)
	b.Exec(supervised[0], append(slices.Clone(supervised[1:]), "--version")...).mustPass(t)
	if second, _ := os.ReadFile(settings); string(second) != string(first) {
		t.Errorf("a second launch makes of\n%s\nthis:\n%s", first, second)
	}

	b.Client = plainly
	b.Run("hello")
	b.wantReviews(1)
	hook.want(t, 2)
	if after, _ := os.ReadFile(settings); string(after) != own {
		t.Errorf("the settings are now\n%s", after)
	}
	b.Client = []string{"claude"}
	b.Run("hello")
	hook.want(t, 3)
}

func TestProgramInAFolderWithSpacesIsCalled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Launcher(nil)
	ccc := filepath.Join(b.root, "it's a place", "ccc")
	b.Link(ccc)
	b.Client = []string{"env", "CCC_SUPERVISOR=1", ccc, "bench"}
	b.API.On(byReviewer, undone("Go on."), done)
	b.Run("hello")
	b.wantSentBack("Go on.")
	b.wantReviews(2)
	if got := len(b.supervisorEntries()); got != 1 {
		t.Errorf("%d entries, want 1", got)
	}

	b.Client = []string{ccc, "bench"}
	b.Run("hello")
	if got := b.supervisorEntries(); len(got) != 0 {
		t.Errorf("entries %q, want none", got)
	}
}
