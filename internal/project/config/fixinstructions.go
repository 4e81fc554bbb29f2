package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxFixInstructions is how much of a file goes with a failure. Agents are
// charged by the word.
const maxFixInstructions = 64 << 10

// readFixInstructions reads a file below dir. An approval covers what lies there
// and nothing else, so no path and no link may lead out.
func readFixInstructions(dir, path string) (text, fault string) {
	path = filepath.FromSlash(path)
	if !filepath.IsLocal(path) || filepath.Clean(path) == "." {
		return "", "must be the path of a file inside the folder of config.yml"
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", document.WhyUnread(err)
	}
	defer root.Close()
	data, err := regular.HeadIn(root, path, maxFixInstructions)
	if err != nil {
		return "", document.WhyUnread(err)
	}
	// The limit may have cut a character in two.
	return strings.ToValidUTF8(string(data), ""), ""
}
