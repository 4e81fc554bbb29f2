package need

import "testing"

func TestTarget(t *testing.T) {
	for _, test := range []struct {
		text        string
		named, open bool
	}{
		{"all:\n\ntest: all\n", true, false},
		{"test lint: all\n", true, false},
		{"test:: all\n", true, false},
		{"all:\n\techo test: x\n", false, false},
		{"test := 1\ntest ::= 1\n", false, false},
		{"include more.mk\n", false, true},
		{"%: x\n", false, true},
		{"tested:\n", false, false},
	} {
		if named, open := HasTarget(test.text, "test"); named != test.named || open != test.open {
			t.Errorf("HasTarget(%q) = %v, %v", test.text, named, open)
		}
	}
}

func TestRecipe(t *testing.T) {
	for text, want := range map[string]bool{
		"test:\n  go test\n":          true,
		"@test: build\n":              true,
		"test := 'x'\n":               false,
		"test TARGET:\n":              false, // which has to be given
		"build:\n    test: nothing\n": false,
		"alias t := test\n":           false,
	} {
		if HasRecipe(text, "test") != want {
			t.Errorf("HasRecipe(%q) is not %v", text, want)
		}
	}
}

func TestTask(t *testing.T) {
	for text, want := range map[string]bool{
		"version: '3'\ntasks:\n  build: go build\n  test:\n    cmds: [go test]\n": true,
		"tasks:\n    # first\n    \"test\": go test\n":                            true,
		"vars:\n  test: 1\ntasks:\n  build:\n    test: 1\n":                       false,
		"tasks:\n  build:\n    cmds:\n      - test: 1\n":                          false,
		"tasks:\n  build: x\nvars:\n  test: 1\n":                                  false,
		"test:\n":                                                                 false,
	} {
		if HasTask(text, "test") != want {
			t.Errorf("HasTask(%q) is not %v", text, want)
		}
	}
}

func TestScript(t *testing.T) {
	if command, found := Script([]byte(`{"scripts": {"test": "jest"}}`), "test"); !found || command != "jest" {
		t.Errorf("%q, %v", command, found)
	}
	for _, text := range []string{`{}`, `{"scripts": {"tests": "jest"}}`, `[`} {
		if _, found := Script([]byte(text), "test"); found {
			t.Errorf("Script(%q) found one", text)
		}
	}
}
