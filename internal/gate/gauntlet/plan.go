package gauntlet

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// planner makes jobs of entry points.
type planner struct {
	root  string
	gates *config.Gates
	ci    bool
	files []string // that have changed; nil where that is not known
}

// jobs lists what the changed files lead to here, in the order of the
// configuration: for each entry point its checks, then its reviews.
func (p *planner) jobs(files []string) []*Job {
	p.files = append([]string{}, files...)
	return p.each(func(ep *config.EntryPoint) []string { return entriesFor(ep.Path, ep.Exclude, files) })
}

// all lists every job that runs here, whatever has changed.
func (p planner) all() []*Job {
	return p.each(p.entries)
}

// entries lists what an entry point stands for, whatever has changed.
func (p planner) entries(ep *config.EntryPoint) []string {
	if parent, each := children(ep.Path); each {
		return p.folders(parent)
	}
	return []string{ep.Path}
}

func (p planner) each(entries func(*config.EntryPoint) []string) []*Job {
	var jobs []*Job
	for i := range p.gates.EntryPoints {
		for _, entry := range entries(&p.gates.EntryPoints[i]) {
			jobs = append(jobs, p.at(i, entry)...)
		}
	}
	return inOrder(slices.DeleteFunc(jobs, func(job *Job) bool { return !p.here(job.Gate()) }))
}

// find is the job with an id, whatever has changed and wherever it runs; nil when
// the configuration no longer leads to it.
func (p planner) find(id string) *Job {
	entry := entryOf(id)
	for i := range p.gates.EntryPoints {
		if !leadsTo(p.gates.EntryPoints[i].Path, entry) {
			continue
		}
		for _, job := range p.at(i, entry) {
			if job.ID() == id {
				return job
			}
		}
	}
	return nil
}

// leadsTo reports whether an entry is one of an entry point's.
func leadsTo(path, entry string) bool {
	if _, each := children(path); !each {
		return path == entry
	}
	return slices.Contains(entriesFor(path, nil, []string{entry + "/file"}), entry)
}

// at lists the jobs of one entry of an entry point.
func (p planner) at(i int, entry string) []*Job {
	ep := &p.gates.EntryPoints[i]
	_, each := children(ep.Path)
	isDir := memo(p.isFolder) // the checks of an entry mostly run in one place
	gone := each && !p.isDir(entry)
	var jobs []*Job
	for _, check := range ep.Checks {
		if gone && check.WorkingDirectory == "" {
			continue // the folder was deleted, and with it where the check would run
		}
		jobs = append(jobs, &Job{Kind: KindCheck, Check: check, Dir: checkDir(check, entry, isDir)})
	}
	for _, review := range ep.Reviews {
		jobs = append(jobs, &Job{Kind: KindReview, Review: review})
	}
	for n, job := range jobs {
		job.Entry, job.folder, job.exclude, job.place = entry, each, ep.Exclude, [2]int{i, n}
	}
	return jobs
}

// here reports whether a gate runs where we are.
func (p planner) here(gate *config.Gate) bool {
	if p.ci {
		return gate.RunInCI
	}
	return gate.RunLocally
}

func (p planner) isDir(path string) bool {
	return disk.IsDir(filepath.Join(p.root, filepath.FromSlash(path)))
}

// isFolder reports whether a path is a folder, or was one that is gone: a check that belongs there does not run
// somewhere else, where it may well pass.
func (p planner) isFolder(path string) bool {
	return p.isDir(path) || p.isGone(path) && (p.files == nil || slices.ContainsFunc(p.files, func(file string) bool {
		return strings.HasPrefix(file, path+"/")
	}))
}

// isGone reports whether nothing is at a path of the configuration.
func (p planner) isGone(path string) bool {
	return !isPattern(path) && !disk.Exists(filepath.Join(p.root, filepath.FromSlash(path)))
}

// memo asks once about each path.
func memo(ask func(string) bool) func(string) bool {
	known := map[string]bool{}
	return func(path string) bool {
		answer, ok := known[path]
		if !ok {
			answer = ask(path)
			known[path] = answer
		}
		return answer
	}
}

// folders lists the folders in a parent, without hidden ones.
func (p planner) folders(parent string) []string {
	entries, _ := os.ReadDir(filepath.Join(p.root, filepath.FromSlash(parent))) // none where there is no parent
	var out []string
	for _, entry := range entries {
		name := entry.Name()
		if parent != "" {
			name = parent + "/" + name
		}
		folder := entry.IsDir() || !entry.Type().IsRegular() && p.isDir(name) // also behind a link
		if entry.Name()[0] != '.' && folder {
			out = append(out, name)
		}
	}
	return out
}

// compare says which job is first in the configuration.
func (j *Job) compare(b *Job) int {
	return cmp.Or(cmp.Compare(j.place[0], b.place[0]), cmp.Compare(j.Entry, b.Entry), cmp.Compare(j.place[1], b.place[1]))
}

// inOrder puts jobs into the order of the configuration. A check that would run
// the same command in the same place again is left to the first one.
func inOrder(jobs []*Job) []*Job {
	slices.SortStableFunc(jobs, (*Job).compare)

	type command struct {
		check *config.Check
		dir   string
	}
	var out []*Job
	ids, commands := map[string]bool{}, map[command]*Job{}
	for _, job := range jobs {
		id := job.ID()
		if ids[id] {
			continue
		}
		ids[id] = true

		if job.Check != nil {
			c := command{job.Check, job.Dir}
			if first := commands[c]; first != nil {
				if !first.standsFor(id) {
					first.also = append(first.also, job)
				}
				continue
			}
			commands[c] = job
		}
		out = append(out, job)
	}
	return out
}
