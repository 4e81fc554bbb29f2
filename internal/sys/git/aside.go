package git

import (
	"context"
	"crypto/rand"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxShallow bounds the list of commits at which a history was cut off.
const maxShallow = 16 << 20

// Aside is a repository's history without its settings: what git makes of commits there depends on the commits, and
// on a Conversion. No attribute, setting or program counts that the repository or the user got since that was read;
// except that git before 2.32 knows no GIT_CONFIG_GLOBAL, and reads the user's settings all the same.
// Nothing is written into the repository, either: new objects are in a folder of its own.
type Aside struct {
	repo Repo // in the directory that the repository was called in
	top  Repo
	dir  string
	made func() error // makes the folder, the first time
}

// Aside makes one for an id's repository, which git gave. Its folder is made within another one, when it is needed,
// and is there until it is closed.
func (r Repo) Aside(within string, c Conversion, id string) (*Aside, error) {
	common, below, found := paths.Repository(r.dir)
	gitDir, known := paths.GitDir(r.dir)
	if !found || !known {
		return nil, ErrNotRepository
	}
	within, err := filepath.Abs(within)
	if err != nil {
		return nil, err
	}
	a := &Aside{repo: r, top: r, dir: filepath.Join(within, rand.Text())}
	a.top.dir, a.repo.dir = a.at("tree"), a.at("tree", filepath.FromSlash(below))
	a.repo.settings = append(slices.Clip(r.settings), c.Settings...)
	a.repo.settings = append(a.repo.settings, "core.attributesFile="+filepath.ToSlash(a.at("attributes")))
	a.top.settings = a.repo.settings
	a.repo.env = append(slices.Clip(r.env),
		"GIT_DIR="+gitDir, "GIT_COMMON_DIR="+a.dir, workTreeVariable+"="+a.top.dir, "GIT_INDEX_FILE="+a.at("index"),
		"GIT_OBJECT_DIRECTORY="+a.at("objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoted(filepath.Join(common, "objects")),
		"GIT_CONFIG_GLOBAL="+a.at("empty"), "GIT_CONFIG_NOSYSTEM=1")
	a.top.env = a.repo.env
	a.made = sync.OnceValue(func() error { return a.fill(c, id, common) })
	return a, nil
}

// Close removes what is left of it.
func (a *Aside) Close() { _ = os.RemoveAll(a.dir) }

func (a *Aside) at(names ...string) string {
	return filepath.Join(append([]string{a.dir}, names...)...)
}

// fill makes what git takes for a repository, with the history ending where that of another one does.
func (a *Aside) fill(c Conversion, id, common string) error {
	for _, folder := range []string{a.at("objects"), a.at("refs"), a.at("info"), a.repo.dir} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	config := ""
	if len(id) == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	files := map[string]string{"config": config, "empty": "", "attributes": c.User, "info/attributes": c.Repository}
	if shallow, err := regular.Read(filepath.Join(common, "shallow"), maxShallow); err == nil {
		files["shallow"] = string(shallow)
	}
	for name, text := range files {
		if err := os.WriteFile(a.at(filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Contents is that of a Repo, by the attributes that a commit or tree has.
func (a *Aside) Contents(ctx context.Context, tree string, files []Stored, most int, each func(i int, content []byte)) error {
	if len(files) == 0 {
		return nil
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = file.Path
	}
	if err := a.attributes(ctx, tree, names); err != nil {
		return err
	}
	return a.repo.Contents(ctx, files, most, each)
}

// Keep takes a file as it is in the work tree, by the attributes that a commit or tree has, and gives the id
// under which git keeps it. The path is from the top of the work tree.
func (a *Aside) Keep(ctx context.Context, tree, path string, content []byte) (id string, err error) {
	if err := a.attributes(ctx, tree, []string{path}); err != nil {
		return "", err
	}
	return a.top.keep(ctx, string(content), "--path="+path)
}

// keep writes an object.
func (r Repo) keep(ctx context.Context, content string, options ...string) (id string, err error) {
	var out strings.Builder
	_, err = r.exec(ctx, strings.NewReader(content), &out, func() {}, slices.Concat([]string{"hash-object", "-w", "--stdin"}, options)...)
	return strings.TrimSpace(out.String()), err
}

// attributes puts those that a commit or tree has for files, named from the top of the work tree, in the place of
// those that were in force.
func (a *Aside) attributes(ctx context.Context, tree string, names []string) error {
	if err := a.made(); err != nil {
		return err
	}
	if err := os.RemoveAll(a.top.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(a.repo.dir, 0o700); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, name := range names {
		for folder := path.Dir(name); !wanted[path.Join(folder, ".gitattributes")]; folder = path.Dir(folder) {
			wanted[path.Join(folder, ".gitattributes")] = true
		}
	}
	listed, err := a.top.Listed(ctx, tree, slices.Sorted(maps.Keys(wanted))...)
	if err != nil {
		return err
	}
	var ids, files []string
	for name, blob := range listed {
		if wanted[name] && blob.Regular() {
			ids, files = append(ids, blob.ID), append(files, name)
		}
	}

	var failed error
	err = a.top.RawContents(ctx, ids, maxAttributes, func(i int, content []byte) {
		file := filepath.Join(a.top.dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			failed = err
		} else if err := os.WriteFile(file, content, 0o600); err != nil {
			failed = err
		}
	})
	if err == nil {
		err = failed
	}
	return err
}
