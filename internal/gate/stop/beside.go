package stop

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// beside are the approved projects to which a path in one of the session's shell commands leads, and of which no hook
// knows: edit tools and changes of the directory tell, commands do not. Projects above and below those where it works are
// not among them, nor those of their repositories and those in which another session works: a path may lead to
// these for other reasons. Each command is read once.
func (c *call) beside(payload hook.Payload, session *footprint.Session, known []string) (roots []string) {
	if !c.enforces() || session.Prompted.IsZero() {
		return nil
	}

	stands := append(c.starts(payload), known...)
	candidates := slices.DeleteFunc(trust.NewStore(c.StateDir).Roots(), func(root string) bool {
		return slices.ContainsFunc(stands, func(stand string) bool { return isWithin(stand, root) || isWithin(root, stand) })
	})
	path := payload.Common().TranscriptPath
	if len(candidates) == 0 || path == "" {
		return nil
	}

	from := int64(0)
	if session.Transcript == path {
		from = session.ReadTo
	}
	text, next, err := transcript.Commands(path, from, maxTranscript)
	if err != nil {
		return nil
	}
	c.read = reading{path, next}
	if len(text) == 0 {
		return nil
	}

	repositories := map[string]bool{}
	for _, root := range known {
		if common, _, found := paths.Repository(root); found {
			repositories[common] = true
		}
	}

	var named []footprint.Candidate
	for _, root := range candidates {
		top, found := paths.GitRoot(root)
		if common, _, in := paths.Repository(root); found && in && repositories[common] {
			continue
		}
		if footprint.Leads(text, root, stands) || found && top != root && footprint.Leads(text, top, stands) {
			named = append(named, footprint.Candidate{Root: root})
		}
	}
	return rootsOf(c.unclaimed(named, session))
}

// reading is how far a transcript was read for commands.
type reading struct {
	path string
	to   int64
}

// isWithin reports whether a path is a folder or lies in it.
func isWithin(path, folder string) bool {
	path, folder = filepath.Clean(path), filepath.Clean(folder)
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}
