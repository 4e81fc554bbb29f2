package git

import (
	"context"
	"strings"
)

// Wrote gives what each commit made of the files below the directory that Touched names: their ids, by
// name; an id of zeros for a file that it deleted.
func (r Repo) Wrote(ctx context.Context, commits []string) (map[string]map[string]string, error) {
	out, err := r.about(ctx, ids(commits), nil, "diff-tree", "--stdin", "-r", "-z", "--cc", "--root", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "--relative")
	if err != nil {
		return nil, err
	}
	return parseWrote(out), nil
}

// parseWrote reads the id of a commit, then for each file its modes, ids and status, the new id last of
// the ids, and its name.
func parseWrote(out string) map[string]map[string]string {
	wrote := map[string]map[string]string{}
	commit, id := "", ""
	for record := range records(out) {
		field := strings.Fields(record)
		switch {
		case id != "":
			wrote[commit][record] = id
			id = ""
		case strings.HasPrefix(record, ":") && len(field) >= 2:
			id = field[len(field)-2]
		default:
			commit = record
			wrote[commit] = map[string]string{}
		}
	}
	return wrote
}

// RawContents calls each with the index and the content of every blob, as git has it, unless it is larger than
// most. The ids must be ones that git gave. The content is each's only while it is called.
func (r Repo) RawContents(ctx context.Context, ids []string, most int, each func(i int, content []byte)) error {
	files, which := make([]Stored, len(ids)), make([]int, len(ids))
	for i, id := range ids {
		files[i], which[i] = Stored{Blob: Blob{ID: id}}, i
	}
	return r.contents(ctx, files, which, most, each)
}
