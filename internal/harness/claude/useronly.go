package claude

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// userOnly are the flags of a client that takes settings and memory from the user alone.
// What the project says would steer a reviewer (CLAUDE.md, rules, an output style), send
// the review with the person's key elsewhere (env, apiKeyHelper), or run commands (hooks,
// MCP servers). Both lists of flags were measured with 2.1.197 and 2.1.325.
func userOnly(dir, config string) []string {
	return []string{
		"--setting-sources", "user",
		"--settings", reviewSettings(dir, config),
		"--strict-mcp-config", // no servers: their tools could change things too
	}
}

// reviewSettings go before the user's.
func reviewSettings(dir, config string) string {
	text, err := json.Marshal(struct {
		// A reviewer must not be reviewed: no hook runs, ours included.
		DisableAllHooks bool `json:"disableAllHooks"`
		// The notes that an agent keeps about a project lie in the user's directory.
		AutoMemory bool `json:"autoMemoryEnabled"`
		// These come with the branch's name and the messages of commits, which the
		// client would not mark as another's words.
		GitInstructions bool `json:"includeGitInstructions"`
		// 2.1.197 still takes rules for certain files from the project.
		Excludes []string `json:"claudeMdExcludes,omitempty"`
	}{DisableAllHooks: true, Excludes: memoryOf(dir, config)})
	if err != nil {
		panic(err) // booleans and strings
	}
	return string(text)
}

// memoryOf are patterns for the memory of a project: all below its directory, and the
// client's folders above it, except the user's own.
func memoryOf(dir, config string) []string {
	if dir == "" {
		return nil
	}
	dirs := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dirs[0] {
		dirs = append(dirs, real)
	}
	var patterns []string
	for _, dir := range dirs {
		patterns = append(patterns, pattern(dir)+"/**")
		for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
			if folder := filepath.Join(parent, ".claude"); paths.Canonical(folder) != paths.Canonical(config) {
				patterns = append(patterns, pattern(folder)+"/**")
			}
			if parent == filepath.Dir(parent) {
				break
			}
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// pattern matches a path. Claude Code reads a backslash as a slash, so special characters
// cannot be escaped; "?" stands in for each of them.
func pattern(path string) string {
	return strings.TrimSuffix(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*?[]{}()!+@|^$#"'`, r) {
			return '?'
		}
		return r
	}, filepath.ToSlash(path)), "/")
}

// ConfigDir is the directory of the user's settings, for a client with that environment.
func ConfigDir(variables []string) string {
	return paths.ClaudeDir(func(name string) string { return environ.Get(variables, name) }, "", false)
}
