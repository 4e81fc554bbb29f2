package stop

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// takesNotes reports whether a call writes only what Claude Code keeps for itself: the plan of plan mode, or an agent's
// memory. Notes that are part of a repository, or of a tree that is judged, are work.
func (c *call) takesNotes(use hook.ToolUse, roots []string) bool {
	files := use.Files()
	if len(files) == 0 || !settings.Edits(use.ToolName) || strings.HasPrefix(use.ToolName, "mcp__") {
		return false
	}
	own := paths.ClaudeDir(c.getenv, "", false)
	return !slices.ContainsFunc(files, func(file string) bool {
		file = followed(file)
		_, inRepository := paths.GitRoot(filepath.Dir(file))
		inTree := slices.ContainsFunc(roots, func(root string) bool { return isWithin(file, paths.Canonical(root)) })
		return inRepository || inTree || !isNote(file, own)
	})
}

// isNote reports whether a file is in one of the folders in which Claude Code keeps notes.
func isNote(file, claudeDir string) bool {
	return filepath.IsAbs(claudeDir) && slices.ContainsFunc([]string{"plans", "projects"}, func(folder string) bool {
		return isWithin(file, filepath.Join(paths.Canonical(claudeDir), folder))
	})
}
