package git

import (
	"context"
	"strings"
)

// Wrote gives what each commit made of the files below the directory, relative to it: by name; the zero Blob for a
// file that it deleted. Of a merge they are those that it changed itself.
func (r Repo) Wrote(ctx context.Context, commits []string) (map[string]map[string]Blob, error) {
	out, err := r.about(ctx, ids(commits), nil, "diff-tree", "--stdin", "-r", "-z", "--cc", "--root", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "--relative")
	if err != nil {
		return nil, err
	}
	wrote, merged := parseWrote(out)
	if len(merged) == 0 {
		return wrote, nil
	}
	prefix, err := r.output(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	for commit, blobs := range merged {
		for name, blob := range blobs {
			if below, is := strings.CutPrefix(name, strings.TrimSuffix(prefix, "\n")); is {
				wrote[commit][below] = blob
			}
		}
	}
	return wrote, nil
}

// parseWrote reads the id of a commit, then for each file its modes, ids and status, the new ones last of
// them, and its name. A file may be named like a commit, so names are told from ids by the modes before them. Those
// of a merge have several modes, and git names them from the top of the work tree, whatever it was asked for.
func parseWrote(out string) (wrote, merged map[string]map[string]Blob) {
	wrote, merged = map[string]map[string]Blob{}, map[string]map[string]Blob{}
	commit, blob := "", Blob{}
	var into map[string]map[string]Blob
	for record := range records(out) {
		field := strings.Fields(record)
		switch {
		case into != nil:
			if into[commit] == nil {
				into[commit] = map[string]Blob{}
			}
			into[commit][record] = blob
			into = nil
		case strings.HasPrefix(record, ":") && len(field) >= 5:
			blob, into = Blob{field[len(field)/2-1], field[len(field)-2]}, wrote
			if strings.Trim(blob.ID, "0") == "" {
				blob = Blob{} // deleted
			}
			if strings.HasPrefix(record, "::") {
				into = merged
			}
		default:
			commit = record
			wrote[commit] = map[string]Blob{}
		}
	}
	return wrote, merged
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
