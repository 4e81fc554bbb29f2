package config

import (
	"io/fs"
	"strings"
	"testing"
)

func TestBuiltins(t *testing.T) {
	files, err := fs.Glob(builtins, "builtin/*.md")
	if err != nil || len(files) != len(Builtins()) {
		t.Errorf("%d files, %d names, %v", len(files), len(Builtins()), err)
	}
	for _, name := range Builtins() {
		text, ok := Builtin(name)
		if !ok || !strings.HasSuffix(text, ".\n") {
			t.Errorf("%s: %v, %.40q", name, ok, text)
		}
		for _, priority := range []Priority{Critical, High, Medium, Low} {
			if !strings.Contains(text, "- "+string(priority)+": ") {
				t.Errorf("%s does not say what is %s", name, priority)
			}
		}
		if !validName(name) {
			t.Errorf("%s is no valid name", name)
		}
	}
	for _, name := range []string{"", "nope", "../builtin/security", "security.md"} {
		if _, ok := Builtin(name); ok {
			t.Errorf("%q is built in", name)
		}
	}
}
