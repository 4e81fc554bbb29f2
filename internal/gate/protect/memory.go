package protect

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// memory is what a session was told of a project. A block counts when it is written down,
// before Claude Code hears of it: the worst that a kill can do is to leave a block unsaid.
type memory struct {
	Version int    `json:"v"`
	Root    string `json:"root"`
	Session string `json:"session"`
	// Blocked are the contents that a stop was refused for, Told those that a person was told
	// of.
	Blocked []Touch `json:"blocked,omitempty"`
	Told    []Touch `json:"told,omitempty"`
	// BlockedFaults and ToldFaults are the same for what kept files from being compared.
	BlockedFaults []string `json:"blocked_faults,omitempty"`
	ToldFaults    []string `json:"told_faults,omitempty"`
	// Open are the touches of the latest stop, which wait for a person.
	Open  []Touch   `json:"open,omitempty"`
	NoGit bool      `json:"no_git,omitempty"`
	Time  time.Time `json:"time"`
}

// blocks notes that a stop is refused for a sight, and reports whether it is to be: each
// content and each fault is blocked once.
func (m *memory) blocks(s sight) bool { return note(&m.Blocked, &m.BlockedFaults, s) }

// tells notes that a person is told of a sight, and reports whether any of it is new.
func (m *memory) tells(s sight) bool { return note(&m.Told, &m.ToldFaults, s) }

func note(touches *[]Touch, faults *[]string, s sight) (isNew bool) {
	if isNew = news(*touches, s.touches); isNew {
		*touches = remember(*touches, s.touches)
	}
	if s.fault != "" && !slices.Contains(*faults, s.fault) {
		isNew = true
		*faults = append(*faults, s.fault)
		*faults = (*faults)[max(0, len(*faults)-maxRemembered):]
	}
	return isNew
}

// maxRemembered bounds each list; an agent that writes ever new contents runs into
// maxBlocks first.
const maxRemembered = 1000

func remember(list, all []Touch) []Touch {
	for _, t := range all {
		if !slices.ContainsFunc(list, t.same) {
			t.Notes = nil
			list = append(list, t)
		}
	}
	return list[max(0, len(list)-maxRemembered):]
}

// news reports whether a list lacks one of the touches.
func news(list, all []Touch) bool {
	return slices.ContainsFunc(all, func(t Touch) bool { return !slices.ContainsFunc(list, t.same) })
}

func (p Place) memoryFile() string { return filepath.Join(p.dir(), "memory.json") }

// memory is empty where it cannot be read: then an agent is blocked once more.
func (p Place) memory() memory {
	m, err := statefile.Read[memory](p.memoryFile(), maxKept)
	if err != nil || m.Version != 1 {
		return memory{Version: 1, Root: paths.Canonical(p.Project.Root), Session: p.Session}
	}
	return m
}

func (p Place) keep(m memory) error {
	m.Time = p.Now().UTC()
	return statefile.Write(p.memoryFile(), m)
}

// maxAge is how long what is known of a silent session is kept, as for sessions themselves.
const maxAge = 30 * 24 * time.Hour

// Prune forgets sessions that have been silent for a month.
func Prune(stateDir string, now time.Time) {
	removeOlder(filepath.Join(stateDir, "protect", "sessions"), now.Add(-maxAge))
}

// removeOlder removes the folders of a directory in which nothing was written since a moment.
func removeOlder(dir string, since time.Time) {
	entries, _ := os.ReadDir(dir) // there need not be any
	for _, entry := range entries {
		folder := filepath.Join(dir, entry.Name())
		files, _ := os.ReadDir(folder)
		young := func(entry os.DirEntry) bool {
			info, err := entry.Info()
			return err == nil && !info.ModTime().Before(since)
		}
		if !young(entry) && !slices.ContainsFunc(files, young) {
			_ = os.RemoveAll(folder)
		}
	}
}
