package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// project is a directory with settings that an agent has written.
func project(t *testing.T, settings string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, ".claude", "settings.json")
	check(t, os.Mkdir(filepath.Dir(file), 0o700))
	check(t, os.WriteFile(file, []byte(settings), 0o600))
	return dir
}

// taken is what is imposed, with "-" for a variable that the person has not set.
func taken(imposed map[string]*string) map[string]string {
	values := map[string]string{}
	for name, value := range imposed {
		values[name] = "-"
		if value != nil {
			values[name] = *value
		}
	}
	return values
}

func TestImposed(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	huge := strings.Repeat(" ", jsonfile.MaxSize)
	person := []string{"HOME=/home/p", "STOPGATE_STATE_DIR=/state", "OJ_AGENT_ID=a1"}
	given := []string{"HOME=/home/p", "STOPGATE_STATE_DIR=/elsewhere", "OJ_AGENT_ID=a1", "STOPGATE_INSIDE=1", "CCC_SUPERVISOR_HOOK=1", "A=1"}
	everything := map[string]string{"STOPGATE_STATE_DIR": "/state", "STOPGATE_INSIDE": "-", "CCC_SUPERVISOR_HOOK": "-"}
	inside := map[string]string{"STOPGATE_INSIDE": "-"}
	for name, test := range map[string]struct {
		settings string
		want     map[string]string
		unknown  map[string]string // where the person's environment is not known
	}{
		"nothing":                   {`{}`, map[string]string{}, map[string]string{}},
		"empty":                     {``, map[string]string{}, map[string]string{}},
		"another program's":         {`{"env": {"A": "1"}}`, map[string]string{}, map[string]string{}},
		"not in force":              {`{"env": {"STOPGATE_OTHER": "1"}}`, map[string]string{}, map[string]string{}},
		"ours":                      {`{"env": {"STOPGATE_INSIDE": "1"}}`, inside, inside},
		"ccc's":                     {`{"env": {"CCC_SUPERVISOR_HOOK": "1"}}`, map[string]string{"CCC_SUPERVISOR_HOOK": "-"}, map[string]string{"CCC_SUPERVISOR_HOOK": "-"}},
		"with an escape":            {`{"\u0065nv": {"STOPGATE_\u0049NSIDE": "1"}}`, inside, inside},
		"a number":                  {`{"env": {"STOPGATE_INSIDE": 1}}`, inside, inside},
		"bytes that are no text":    {"{\"env\": {\"STOPGATE_INSIDE\": \"1\"}, \"a\": \"\xff\"}", inside, inside},
		"a byte order mark":         {"\xef\xbb\xbf" + `{"env": {"STOPGATE_INSIDE": "1"}}`, inside, inside},
		"the person has another":    {`{"env": {"STOPGATE_STATE_DIR": "/elsewhere"}}`, map[string]string{"STOPGATE_STATE_DIR": "/state"}, map[string]string{"STOPGATE_STATE_DIR": "-"}},
		"the person has the same":   {`{"env": {"OJ_AGENT_ID": "a1"}}`, map[string]string{}, map[string]string{"OJ_AGENT_ID": "-"}},
		"no JSON":                   {`{"env": {"STOPGATE_INSIDE": "1"}`, everything, map[string]string{}},
		"deeper than we read":       {`{"env": {"STOPGATE_INSIDE": "1"}, "a": ` + deep + `}`, everything, map[string]string{}},
		"larger than we read":       {`{"env": {"STOPGATE_INSIDE": "1"}}` + huge, everything, map[string]string{}},
		"the encoding of Windows":   {"\xff\xfe{\x00}\x00", everything, map[string]string{}},
		"something else than a map": {`{"env": "STOPGATE_INSIDE=1"}`, map[string]string{}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			given := append([]string{"CLAUDE_PROJECT_DIR=" + project(t, test.settings)}, given...)
			if diff := cmp.Diff(test.want, taken(imposed(given, func() []string { return person }))); diff != "" {
				t.Errorf("the person's is known: %s", diff)
			}
			if diff := cmp.Diff(test.unknown, taken(imposed(given, func() []string { return nil }))); diff != "" {
				t.Errorf("the person's is not known: %s", diff)
			}
		})
	}
}

// Where the client's first environment is not known, the user's own settings still count.
func TestImposedOverTheUsersSettings(t *testing.T) {
	home := project(t, `{"env": {"STOPGATE_STATE_DIR": "/state"}}`)
	dir := project(t, `{"env": {"STOPGATE_STATE_DIR": "/elsewhere"}}`)
	given := []string{"CLAUDE_PROJECT_DIR=" + dir, "HOME=" + home, "USERPROFILE=" + home, "STOPGATE_STATE_DIR=/elsewhere"}
	if diff := cmp.Diff(map[string]string{"STOPGATE_STATE_DIR": "/state"}, taken(imposed(given, func() []string { return nil }))); diff != "" {
		t.Error(diff)
	}
}
