package git

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Fetch is a step of a remote's branch: what it was before a fetch, and what it was then.
type Fetch struct{ From, To string }

// Fetched lists what was fetched since a moment, by the logs of remote-tracking branches, and some of what was
// fetched before. Each list is of one branch, the newest step first, and has no push from here in between. The
// branch that HEAD follows is before the others.
func (r Repo) Fetched(ctx context.Context, since time.Time) (all [][]Fetch) {
	common, _, found := paths.Repository(r.dir)
	if !found {
		return nil
	}
	const most = 1000 // branches: reading as many takes some 20 ms
	var logs []string
	_ = filepath.WalkDir(filepath.Join(common, "logs", "refs", "remotes"), func(file string, entry fs.DirEntry, err error) error { // what cannot be read was not fetched
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil && !info.ModTime().Before(since.Truncate(time.Second)) {
			logs = append(logs, file)
		}
		return nil
	})
	if len(logs) == 0 {
		return nil
	}

	if upstream, err := r.output(ctx, "rev-parse", "--symbolic-full-name", "@{upstream}"); err == nil {
		first := filepath.Join(common, "logs", filepath.FromSlash(strings.TrimSpace(upstream)))
		if i := slices.Index(logs, first); i >= 0 {
			logs = slices.Insert(slices.Delete(logs, i, i+1), 0, first)
		}
	}
	const end = 16 << 10 // a few dozen lines
	for _, log := range logs[:min(len(logs), most)] {
		if text, _, err := regular.Tail(log, end); err == nil {
			all = append(all, fetchesIn(string(text))...)
		}
	}
	return all
}

// fetches is what git writes into a log when it fetches.
var fetches = lazyregexp.New(`^(fetch|pull)\b`)

// fetchesIn reads the newest fetches of a log. What is not a fetch ends a list.
func fetchesIn(log string) (all [][]Fetch) {
	most := 5
	var run []Fetch
	end := func() {
		if len(run) > 0 {
			all = append(all, run)
		}
		run = nil
	}

	for _, line := range slices.Backward(strings.Split(strings.TrimSuffix(log, "\n"), "\n")) {
		head, what, _ := strings.Cut(line, "\t")
		field := append(strings.Fields(head), "", "")
		from, to := field[0], field[1]
		if !IsID(from) || !IsID(to) || most == 0 {
			break
		}

		if strings.Trim(from, "0") == "" || !fetches.Get().MatchString(what) {
			end()
			continue
		}
		run = append(run, Fetch{from, to})
		most--
	}
	end()
	return all
}
