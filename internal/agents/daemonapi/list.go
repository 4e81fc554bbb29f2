package daemonapi

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Filter says which of a list one wants to see. The zero Filter lets all through.
type Filter struct {
	Project string
	Status  string // one, or several separated by commas
	Since   time.Time
	Limit   int // how many of the newest; 0 is for all
	// Parent is that of pipelines: its id, AnyParent, or "" for those that no other one runs.
	Parent string
	// Host is the name of a machine of the fleet, Here for this one, or "" for all.
	Host string
}

// query is the filter as a query, with what is asked for besides.
func (f Filter) query(besides ...string) string {
	since, limit := "", ""
	if !f.Since.IsZero() {
		since = f.Since.UTC().Format(time.RFC3339Nano)
	}
	if f.Limit > 0 {
		limit = strconv.Itoa(min(f.Limit, maxPage))
	}
	return query(append(besides, "project", f.Project, "status", f.Status, "parent", f.Parent, "host", f.Host, "since", since, "limit", limit)...)
}

// AnyParent is the parent of a filter that lets all pipelines through, with a parent and without.
const AnyParent = "any"

// maxPage is how many of a list the daemon answers at most at once.
const maxPage = 500

// list is a list, page by page, as far as so many of it; 0 is for all of it.
func list[T any](ctx context.Context, c *Client, path string, most int) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all := []T{}
	for path != "" && (most == 0 || len(all) < most) {
		page, next, err := c.fetch(ctx, "GET", path, nil)
		if err != nil {
			return nil, err
		}
		var items []T
		if err := decode(page, &items); err != nil {
			return nil, err
		}
		all = append(all, items...)
		path = next
		if path != "" && !strings.Contains(path, "&limit=") {
			path += "&limit=" + strconv.Itoa(maxPage) // not in the first request: an older daemon does not know it
		}
	}
	if most > 0 {
		all = all[:min(len(all), most)]
	}
	return all, nil
}
