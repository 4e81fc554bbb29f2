package web

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// pipelinesPage are pipelines and agents that run alone, the newest first.
type pipelinesPage struct {
	Tabs     []tab
	Projects []choice
	Machines []choice // of the fleet
	Status   string
	Items    []daemonapi.Owner
	More     string
	Newest   string // the address of the first page, on the others
	Filtered bool
}

// tab is a filter that one click chooses.
type tab struct {
	Name  string
	Href  string
	Here  bool
	Count int
	Known bool // Count is
}

// pipelineFilters are the statuses that people ask for, those that need a person first.
var pipelineFilters = []struct {
	value, name string
	statuses    []string
	count       func(daemonapi.Counts) int
}{
	{"", "All", nil, nil},
	{"waiting", "Waiting", []string{"waiting"}, func(c daemonapi.Counts) int { return c.Waiting }},
	{"held", "Held", []string{"held"}, func(c daemonapi.Counts) int { return c.Held }},
	{"running", "Running", []string{"running", "queued"}, func(c daemonapi.Counts) int { return c.Running + c.Queued }},
	{"failed", "Failed", []string{"failed"}, func(c daemonapi.Counts) int { return c.Failed }},
	{"done", "Done", []string{"done"}, func(c daemonapi.Counts) int { return c.Done }},
	{"cancelled", "Cancelled", []string{"cancelled"}, func(c daemonapi.Counts) int { return c.Cancelled }},
}

func readPipelines(r *Request) (any, error) {
	q, err := r.List("after")
	if err != nil {
		return nil, err
	}
	q.Project, q.Host = r.Value("project"), r.host()

	status := r.Value("status")
	page := pipelinesPage{Filtered: q.Project != "" || q.Host != "", Projects: r.projects(q.Project), Machines: r.machines(q.Host)}
	now := r.Status(r.Context())

	for _, f := range pipelineFilters {
		t := tab{Name: f.name, Href: r.first("status", f.value), Here: f.value == status}
		if f.count != nil && q.Project == "" && (len(page.Machines) == 0 || q.Host == daemonapi.Here) { // the daemon counts its own
			t.Count, t.Known = f.count(now.Pipelines)+f.count(now.Runs), true
		}
		if t.Here {
			q.Status, page.Status = f.statuses, f.value
			page.Filtered = page.Filtered || f.value != ""
		}
		if f.value != "held" || t.Here || t.Count > 0 { // which it hardly ever is
			page.Tabs = append(page.Tabs, t)
		}
	}

	found, err := r.Owners(r.Context(), q)
	if err != nil {
		return nil, err
	}
	page.Items, page.More = found.Items, r.More("after", found.Next)
	if r.Value("after") != "" {
		page.Newest = r.first("status", status)
	}
	return page, nil
}

// first is the address of the first part of a list, with another value of a filter.
func (r *Request) first(filter, value string) string {
	values := r.URL.Query()
	values.Del("after")
	values.Set(filter, value)
	if value == "" {
		values.Del(filter)
	}
	if len(values) == 0 {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + values.Encode()
}

// projects are those to choose from, with the one that is chosen. Projects whose folders have the same
// name are told apart by their paths.
func (r *Request) projects(chosen string) []choice {
	roots := r.Projects()
	if chosen != "" && !slices.Contains(roots, chosen) {
		roots = append(roots, chosen)
	}
	return choices(roots, chosen)
}

func choices(roots []string, chosen string) (all []choice) {
	names := map[string]int{}
	for _, root := range roots {
		names[path.Base(root)]++
	}
	for _, root := range roots {
		if len(root) > longestValue || plain.Line(root) != root { // no form could ask for it
			continue
		}
		name := path.Base(root)
		if names[name] > 1 {
			name = root
		}
		all = append(all, choice{Value: root, Name: name, Here: root == chosen})
	}
	slices.SortFunc(all, func(a, b choice) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}
