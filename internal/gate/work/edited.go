package work

import (
	"cmp"
	"encoding/json"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
)

// Edited is the directory of the file that a tool has written; empty where it names none, or
// writes none.
func Edited(use hook.ToolUse, cwd string) string {
	if !settings.Edits(use.ToolName) {
		return ""
	}
	var file struct {
		Path     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Other    string `json:"path"`
	}
	if json.Unmarshal(use.ToolInput, &file) != nil {
		return ""
	}
	path := cmp.Or(file.Path, file.Notebook, file.Other)
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.Dir(path)
}
