package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
)

// here is an environment in which the programs openclaw and notify can be found.
func here(t testing.TB, more ...string) []string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"openclaw", "notify"} {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		check(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700))
	}
	return append([]string{"PATH=" + bin}, more...)
}

// messages are faults without their file.
func messages(faults []document.Fault) []string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, fmt.Sprintf("%d:%d: %s (%s)", f.Line, f.Column, f.Message, f.Hint))
	}
	return lines
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	for path, text := range map[string]string{file: "hush\n", filepath.Join(dir, "empty"): " \n"} {
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	check(t, os.WriteFile(filepath.Join(dir, "program"), nil, 0o700))
	quote := func(name string) string { return fmt.Sprintf("%q", filepath.Join(dir, name)) }
	in := func(members string) string {
		return `{"agents":[{"agent_id":"a","session_name":"s",` + members + "}]}"
	}
	for _, tt := range []struct {
		name, text       string
		faults, warnings []string // a part of each
	}{
		{"all is well", in(`"working_directory":` + quote("") + `,"system_prompt_file":"x","session_history":[],"gateway":{"message_file":true}`), nil, nil},
		{"nobody", `{"agents":[],"hook_settings":{}}`, nil, nil},
		{"no JSON", `{"agents":[}`, []string{"1:12: invalid character '}'"}, nil},
		{"what Load finds", in(`"commands":3`), []string{"commands must be an array of strings, is a number"}, nil},

		{"a slip", in(`"enabeld":false`), []string{"1:47: agents[0].enabeld is unknown (did you mean enabled?)"}, nil},
		{"a slip at the top", `{"agents":[],"agnets":[]}`, []string{"1:14: agnets is unknown (did you mean agents?)"}, nil},
		{"a slip in a gateway", in(`"gateway":{"programm":"x"}`), []string{"agents[0].gateway.programm is unknown (did you mean program?)"}, nil},
		{"a slip in a rule", in(`"answers":[{"question":"x","answer":"y","anwser":"z"}]`), []string{"agents[0].answers[0].anwser is unknown (did you mean answer?)"}, nil},
		{"somebody else's", in(`"colour":"red"`), nil, []string{"agents[0].colour is unknown and has no effect"}},
		{"twice", in(`"enabled":true,"enabled":false`), []string{"agents[0].enabled is a duplicate"}, nil},
		{"a secret", in(`"gateway":{"transport":"webhook","url":"http://x","secret":"hush","secret_file":` + quote("file") + `}`), []string{"gateway.secret does not belong in this file"}, nil},
		{"a token", in(`"token":"hush"`), []string{"agents[0].token does not belong in this file"}, nil},

		{"no program", in(`"gateway":{"program":"closedclaw"}`), []string{"gateway.program is not on the PATH: closedclaw"}, nil},
		{"a program by its path", in(`"gateway":{"program":` + quote("nothing") + `}`), []string{"gateway.program is not a program: "}, nil},
		{"a program beside the registry", in(`"gateway":{"program":"./x"}`), []string{"gateway.program is not a program: "}, nil},
		{"a program at home", in(`"gateway":{"program":"~/program"}`), nil, nil},
		{"a command", in(`"gateway":{"transport":"command","command":["notify","x"]}`), nil, nil},
		{"no command", in(`"gateway":{"transport":"command","command":["notfiy"]}`), []string{"gateway.command is not on the PATH: notfiy"}, nil},
		{"no directory", in(`"working_directory":` + quote("nothing")), []string{"working_directory does not exist: "}, nil},
		{"a file as directory", in(`"working_directory":` + quote("file")), []string{"working_directory is not a directory: "}, nil},
		{"a relative directory", in(`"working_directory":"."`), []string{"working_directory must be an absolute path"}, nil},
		{"disabled ones need nothing", in(`"enabled":false,"working_directory":"/none","gateway":{"program":"closedclaw"}`), nil, nil},

		{"a token of the environment", in(`"gateway":{"transport":"openclaw-http","token_env":"SET"}`), nil, nil},
		{"an empty variable", in(`"gateway":{"transport":"openclaw-http","token_env":"EMPTY"}`), []string{"gateway.token_env EMPTY is not set here"}, nil},
		{"the variable that is meant without one", in(`"gateway":{"transport":"openclaw-http"}`), []string{"1:57: agents[0].gateway.token_env OPENCLAW_GATEWAY_TOKEN is not set here"}, nil},
		{"a token of a file", in(`"gateway":{"transport":"openclaw-http","token_file":` + quote("file") + `}`), nil, nil},
		{"a token at home", in(`"gateway":{"transport":"openclaw-http","token_file":"~/file"}`), nil, nil},
		{"a directory at home", in(`"working_directory":"~/"`), nil, nil},
		{"no such file", in(`"gateway":{"transport":"openclaw-http","token_file":` + quote("nothing") + `}`), []string{"gateway.token_file cannot be read: "}, nil},
		{"an empty file", in(`"gateway":{"transport":"webhook","url":"http://x","secret_file":` + quote("empty") + `}`), []string{"gateway.secret_file is an empty file: "}, nil},
		{"no secret", in(`"gateway":{"transport":"webhook","url":"http://x"}`), nil, []string{"gateway.secret_env is missing"}},
		{"of another transport", in(`"gateway":{"url":"http://x"}`), []string{"gateway.url has no effect with the transport openclaw (it belongs to openclaw-http and webhook)"}, nil},

		{"two for one session", `{"agents":[{"agent_id":"a","session_name":"s"},{"agent_id":"b","session_name":"s"}]}`, []string{"1:79: agents[1].session_name is the same as in agents[0]"}, nil},
		{"one of two", `{"agents":[{"agent_id":"a","session_name":"s","enabled":false},{"agent_id":"b","session_name":"s"}]}`, nil, nil},
		{"a glob behind a wider one", `{"agents":[{"agent_id":"a","session_name":"s*"},{"agent_id":"b","session_name":"s-?-*"}]}`, nil, []string{"agents[1].session_name never matches: agents[0] (s*) comes first"}},
		{"a glob behind a narrower one", `{"agents":[{"agent_id":"a","session_name":"s-*"},{"agent_id":"b","session_name":"s*"},{"agent_id":"c","session_name":"[s]-*"},
			{"agent_id":"d","session_name":"t?-*"},{"agent_id":"e","session_name":"t*-x"},{"agent_id":"f","session_name":"*u*"},{"agent_id":"g","session_name":"[uv]"}]}`, nil, nil},
		{"a name behind a glob", `{"agents":[{"agent_id":"a","session_name":"s*"},{"agent_id":"b","session_name":"s1"}]}`, nil, nil},
		{"a name that tmux changes", `{"agents":[{"agent_id":"a","session_name":"v1.2"}]}`, nil, []string{"agents[0].session_name can never be the name of a session (tmux calls it v1_2)"}},

		{"rules behind others", in(`"answers":[{"question":"*a*","text":"x"},{"question":"BA?","text":"y"},{"question":"b","text":"z"},{"question":"B","text":"z"}]`), nil, []string{
			"agents[0].answers[1] never applies: answers[0] matches first", "agents[0].answers[3] never applies: answers[2] matches first",
		}},

		{"itself", in(`"gateway":{"transport":"session","session":"s"}`), nil, []string{"agents[0].gateway.session leads back to this entry: they would wake each other forever (s)"}},
		{
			"each other", `{"agents":[
			{"agent_id":"x","session_name":"x","gateway":{"transport":"session","session":"s-1"}},
			{"agent_id":"a","session_name":"s-*","gateway":{"transport":"session","session":"b"}},
			{"agent_id":"b","session_name":"b","gateway":{"transport":"session","session":"s-2"}}]}`,
			nil,
			[]string{"3:84: agents[1].gateway.session leads back to this entry: they would wake each other forever (b → s-2)"},
		},
		{
			"a way that ends", `{"agents":[
			{"agent_id":"a","session_name":"a","gateway":{"transport":"session","session":"b"}},
			{"agent_id":"b","session_name":"b","gateway":{"transport":"session","session":"c"}}]}`,
			nil, nil,
		},
		{
			"a way that ends where nobody is woken", `{"agents":[
			{"agent_id":"a","session_name":"a","gateway":{"transport":"session","session":"b"}},
			{"session_name":"b","gateway":{"transport":"session","session":"a"}}]}`,
			[]string{"agents[1].agent_id is missing"},
			nil,
		},
	} {
		report := Check(put(t, tt.text), here(t, "SET=hush", "EMPTY=", "HOME="+dir))
		for _, part := range []struct {
			kind      string
			got, want []string
		}{{"faults", messages(report.Faults), tt.faults}, {"warnings", messages(report.Warnings), tt.warnings}} {
			ok := len(part.got) == len(part.want)
			for i := 0; ok && i < len(part.got); i++ {
				ok = strings.Contains(part.got[i], part.want[i])
			}
			if !ok {
				t.Errorf("%s: %s\n%s", tt.name, part.kind, cmp.Diff(part.want, part.got))
			}
			if strings.Contains(strings.Join(part.got, "\n"), "hush") {
				t.Errorf("%s: a secret in %q", tt.name, part.got)
			}
		}
	}
}

func TestCheckCounts(t *testing.T) {
	if got := Check(Path(t.TempDir()), nil); got.Agents != 0 || got.Faults != nil || got.Warnings != nil {
		t.Errorf("a missing file: %+v", got)
	}
	report := Check(put(t, `{"agents":[{"agent_id":"a","session_name":"s"},{"agent_id":"b"},{"agent_id":"c","session_name":"c","enabled":false}]}`), here(t))
	if report.Agents != 2 || len(report.Faults) != 1 {
		t.Errorf("%+v", report)
	}
}

func TestCheckIsInTheOrderOfTheFile(t *testing.T) {
	report := Check(put(t, "{\"agents\":[\n{\"agent_id\":\"a\",\"session_name\":\"s\",\"gateway\":{\"program\":\"none\"}},\n{\"agent_id\":1}]}"), here(t))
	var lines []int
	for _, fault := range report.Faults {
		lines = append(lines, fault.Line)
	}
	if diff := cmp.Diff([]int{2, 3, 3}, lines); diff != "" {
		t.Error(diff, messages(report.Faults))
	}
}

func TestCheckMindsWhoMayWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing there")
	}
	path := put(t, `{"agents":[]}`)
	check(t, os.Chmod(path, 0o664))
	report := Check(path, here(t))
	if len(report.Faults) != 1 || !strings.Contains(report.Faults[0].Message, "others may write") || report.Faults[0].Line != 0 {
		t.Errorf("%+v", report)
	}
}
