package gauntlet

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/config"
)

// planner makes jobs of entry points.
type planner struct {
	root  string
	gates *config.Gates
	ci    bool
}

// jobs lists what the changed files lead to, in the order of the configuration:
// for each entry point its checks, then its reviews.
func (p planner) jobs(files []string) []*Job {
	var jobs []*Job
	for i, ep := range p.gates.EntryPoints {
		for _, entry := range entriesFor(ep.Path, ep.Exclude, files) {
			jobs = append(jobs, p.at(i, entry)...)
		}
	}
	return inOrder(jobs)
}

// all lists every job, whatever has changed.
func (p planner) all() []*Job {
	var jobs []*Job
	for i, ep := range p.gates.EntryPoints {
		entries := []string{ep.Path}
		if parent, each := children(ep.Path); each {
			entries = p.folders(parent)
		}
		for _, entry := range entries {
			jobs = append(jobs, p.at(i, entry)...)
		}
	}
	return inOrder(jobs)
}

// find is the job with an id, whatever has changed; nil when the configuration
// no longer leads to it.
func (p planner) find(id string) *Job {
	for i, ep := range p.gates.EntryPoints {
		entry := entryOf(id)
		if _, each := children(ep.Path); !each && ep.Path != entry || each && len(entriesFor(ep.Path, nil, []string{entry + "/file"})) == 0 {
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

// at lists the jobs of one entry of an entry point, without those that do not run
// here.
func (p planner) at(i int, entry string) []*Job {
	ep := &p.gates.EntryPoints[i]
	_, each := children(ep.Path)
	if each && !p.isDir(entry) {
		return nil // the whole folder was deleted: nothing is left to look at
	}
	var jobs []*Job
	for _, check := range ep.Checks {
		jobs = append(jobs, &Job{Kind: KindCheck, Check: check, Dir: checkDir(check, entry, p.isDir)})
	}
	for _, review := range ep.Reviews {
		jobs = append(jobs, &Job{Kind: KindReview, Review: review})
	}
	for n, job := range jobs {
		job.Entry, job.folder, job.exclude, job.place = entry, each, ep.Exclude, [2]int{i, n}
	}
	return slices.DeleteFunc(jobs, func(job *Job) bool { return !p.here(job.Gate()) })
}

// here reports whether a gate runs where we are.
func (p planner) here(gate *config.Gate) bool {
	if p.ci {
		return gate.RunInCI
	}
	return gate.RunLocally
}

func (p planner) isDir(path string) bool {
	info, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(path)))
	return err == nil && info.IsDir()
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
		if entry.Name()[0] != '.' && p.isDir(name) {
			out = append(out, name)
		}
	}
	return out
}

// inOrder puts jobs into the order of the configuration, and drops a check that
// would run the same command in the same place again.
func inOrder(jobs []*Job) []*Job {
	slices.SortStableFunc(jobs, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.place[0], b.place[0]), cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.place[1], b.place[1]))
	})
	var out []*Job
	for _, job := range jobs {
		same := func(other *Job) bool {
			return job.ID() == other.ID() || job.Check != nil && job.Check == other.Check && job.Dir == other.Dir
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, job)
		}
	}
	return out
}
