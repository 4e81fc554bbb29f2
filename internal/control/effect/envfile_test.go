package effect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/errand"
)

func TestEnvFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.env")
	check(t, os.WriteFile(path, []byte("# a comment\n\nA=1\r\nexport B = \"two words\"\nC='$x'\nD=\nE=a=b # c\nOWN=file\n"), 0o600))
	want := map[string]string{"A": "1", "B": "two words", "C": "$x", "D": "", "E": "a=b # c", "OWN": "runbook"}
	for _, name := range []string{"a.env", path} {
		got, err := fromFile(map[string]string{"OWN": "runbook"}, name, dir)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
	if got, err := fromFile(nil, "", dir); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestEnvFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"A=1\nwords\n": ":2: not NAME=VALUE",
		"=1\n":         ":1: not NAME=VALUE",
		"A B=1\n":      ":1: not NAME=VALUE",
		"A=\x00\n":     ":1: not NAME=VALUE",
		"-":            "no such file",
		"large":        "is larger than",
	} {
		name := "env"
		switch text {
		case "-":
			name = "missing"
		case "large":
			text = strings.Repeat("A=1\n", maxEnvFile)
		}
		check(t, os.WriteFile(filepath.Join(dir, "env"), []byte(text), 0o600))
		_, err := fromFile(nil, name, dir)
		var failure *errand.Failure
		if !errors.As(err, &failure) || !strings.Contains(failure.Why, want) || !strings.HasPrefix(failure.Why, "env_file: ") {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}

func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nexport B='2'\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseEnv(text)
		for name, value := range all {
			if err != nil || name == "" || strings.ContainsAny(name, "= \n\x00") || strings.ContainsAny(value, "\n\x00") {
				t.Errorf("%q: %q=%q, %v", text, name, value, err)
			}
		}
	})
}
