package git

import (
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Fetch is how a branch of a remote went: what it was before one or more fetches, and what it has been since.
type Fetch struct{ From, To string }

// Fetched lists what was fetched since a moment, by the logs of remote-tracking branches, and some of what was
// fetched before. What was pushed from here is not among it, nor is anything before that.
func (r Repo) Fetched(since time.Time) (all []Fetch) {
	common, _, found := paths.Repository(r.dir)
	if !found {
		return nil
	}
	const most = 100                                                                                                               // branches: with more, each of them takes too long to look at
	_ = filepath.WalkDir(filepath.Join(common, "logs", "refs", "remotes"), func(file string, entry fs.DirEntry, err error) error { // what cannot be read was not fetched
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil && !info.ModTime().Before(since.Truncate(time.Second)) {
			all = append(all, fetchesIn(logEnd(file))...)
		}
		if len(all) > most {
			return fs.SkipAll
		}
		return nil
	})
	return all
}

// logEnd is the last part of a reflog.
func logEnd(path string) string {
	const most = 16 << 10 // a few dozen lines
	file, err := regular.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	at := max(0, info.Size()-most)
	text, err := io.ReadAll(io.NewSectionReader(file, at, most))
	if err != nil {
		return ""
	}
	return string(text)
}

// fetches is what git writes into a log when it fetches.
var fetches = lazyregexp.New(`^(fetch|pull)\b`)

// fetchesIn reads the newest lines of a log, as long as they are of fetches.
func fetchesIn(log string) (all []Fetch) {
	const most = 5
	now := ""
	for _, line := range slices.Backward(strings.Split(strings.TrimSuffix(log, "\n"), "\n")) {
		head, what, _ := strings.Cut(line, "\t")
		field := append(strings.Fields(head), "", "")
		from, to := field[0], field[1]
		if !IsID(from) || !IsID(to) || !fetches.Get().MatchString(what) || len(all) == most {
			break
		}
		if now == "" {
			now = to
		}
		if strings.Trim(from, "0") != "" {
			all = append(all, Fetch{from, now})
		}
	}
	return all
}
