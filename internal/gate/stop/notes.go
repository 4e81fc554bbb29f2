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

// isNote reports whether a file is in one of the folders in which Claude Code keeps notes. Beside memories are transcripts.
func isNote(file, claudeDir string) bool {
	rel, err := filepath.Rel(paths.Canonical(claudeDir), file)
	if err != nil || !filepath.IsAbs(claudeDir) {
		return false
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	return parts[0] == "plans" || len(parts) > 3 && parts[0] == "projects" && parts[2] == "memory"
}
