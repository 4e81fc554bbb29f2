//go:build unix

package claude

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const patchScript = "#!/bin/sh\nexport CCC_CLAUDE=\"/b/ccc-claude\"\nexec ccc \"$@\"\n"

func TestIssue19PatchOfCCC(t *testing.T) {
	for name, tt := range map[string]struct {
		claude, client string
		patched        bool
		fault          string
	}{
		"patched":            {claude: patchScript, client: "#!/bin/sh\n", patched: true},
		"the client is gone": {claude: patchScript, fault: "was patched by ccc, but"},
		"another script":     {claude: "#!/bin/sh\nexec node cli.js\n", client: "#!/bin/sh\n"},
		"the client itself":  {claude: "#!" + strings.Repeat("CCC_CLAUDE= ccc-claude exec ", 1000)},
		"no client":          {fault: ErrNotFound.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			for file, text := range map[string]string{"claude": tt.claude, patchedName: tt.client} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(bin, file), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}

			patch, err := Patched([]string{"PATH=" + bin})
			switch {
			case (patch != nil) != tt.patched:
				t.Fatalf("patched: %v", patch)
			case tt.fault == "" && err != nil || tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
				t.Fatal(err)
			case patch == nil:
				return
			}
			if err := patch.Undo(); err != nil {
				t.Fatal(err)
			}
			if again, err := Patched([]string{"PATH=" + bin}); again != nil || err != nil {
				t.Errorf("after the undo: %v %v", again, err)
			}
			if text, err := os.ReadFile(filepath.Join(bin, "claude")); err != nil || string(text) != tt.client {
				t.Errorf("%q %v", text, err)
			}
		})
	}
}

func TestIssue19NoClientToPatch(t *testing.T) {
	if _, err := Patched([]string{"PATH=" + t.TempDir()}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
