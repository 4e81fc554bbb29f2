package here

import (
	"cmp"
	"maps"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// Sessions are the sessions of Claude Code in the journal, in the order in which they began, and
// the last project of each.
func Sessions(stateDir string) (ids []string, projects map[string]string) {
	projects = map[string]string{}
	for entry, err := range journal.New(filepath.Join(stateDir, "journal"), journal.Limits{}).Read(journal.Position{}) {
		if err != nil {
			break // what was read so far is better than nothing
		}
		r := entry.Record
		if r == nil || r.Session == "" {
			continue
		}
		if _, known := projects[r.Session]; !known {
			ids = append(ids, r.Session)
		}
		projects[r.Session] = "-"
		if r.Project != "" {
			projects[r.Session] = filepath.Base(r.Project)
		}
	}
	return ids, projects
}

// Session is the session that is meant by an id or a prefix of one: one in the journal, or one of
// the others that the caller knows.
func Session(stateDir, id string, others ...string) (string, error) {
	_, all := Sessions(stateDir)
	for _, other := range others {
		all[other] = cmp.Or(all[other], "-")
	}
	maps.DeleteFunc(all, func(one, _ string) bool { return !strings.HasPrefix(one, id) })
	return term.OnlyOne(id, all, "session", "list sessions with: stopgate log")
}
