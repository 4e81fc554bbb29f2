package setup

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGuessCheck(t *testing.T) {
	for _, test := range []struct{ file, text, want string }{
		{"README", "", ""},
		{"Makefile", "all:\n\ntest: all\n", "make test"},
		{"Makefile", "test:\n", "make test"},
		{"Makefile", "all:\n", ""},
		{"go.mod", "module x\n", "go test ./..."},
		{"package.json", `{"scripts": {"test": "jest"}}`, "npm test"},
		{"package.json", `{}`, ""},
		{"Cargo.toml", "", "cargo test"},
		{"pyproject.toml", "[tool.pytest.ini_options]\n", "pytest -q"},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, test.file), []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := guessCheck(root); got != test.want {
			t.Errorf("guessCheck with %s %q = %q, not %q", test.file, test.text, got, test.want)
		}
	}
}

// The first configuration means the command that was given, whatever that is.
func TestFirstConfig(t *testing.T) {
	for _, check := range []string{"", "make lint", `echo "a: b" # 'c' \n`, "a\tb", "é ✓ 😀", "- x", "{}", "a\nb"} {
		dir := t.TempDir()
		if err := writeFirst(dir, check); err != nil {
			t.Fatal(err)
		}
		c, err := ReadContents(dir, dir)
		if err != nil {
			t.Errorf("firstConfig(%q): %v", check, err)
			continue
		}
		var commands []string
		for _, ep := range c.gates.EntryPoints {
			for _, check := range ep.Checks {
				commands = append(commands, check.Command)
			}
		}
		switch {
		case check == "" && len(commands) == 0:
		case len(commands) == 1 && commands[0] == check:
		default:
			t.Errorf("firstConfig(%q) means %+v", check, commands)
		}
	}
}
