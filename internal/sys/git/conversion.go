package git

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Conversion is how git writes files into a work tree, as far as that is said outside of the tree: in its
// configuration, and in files of attributes.
type Conversion struct {
	User Settings // of the system and the user
	Own  Settings // of the repository; none where it has no say

	FileMode, Symlinks bool // as git takes them
}

// Settings is a hash. Two that are the same say the same.
type Settings [sha256.Size / 2]byte

// Conversion asks for it. It starts one process.
func (r Repo) Conversion(ctx context.Context) (Conversion, error) {
	out, err := r.output(ctx, "config", "-z", "--show-scope", "--get-regexp", `^(core\.(autocrlf|eol|symlinks|filemode|attributesfile)|attr\..*|filter\..*)$`)
	if err != nil && code(err) != 1 { // there is none
		return Conversion{}, err
	}
	c := Conversion{FileMode: true, Symlinks: true}
	user, own := &settings{Hash: sha256.New()}, &settings{Hash: sha256.New()}
	attributes := filepath.Join(r.userConfig(), "attributes")
	all := slices.Collect(records(out))
	for pair := range slices.Chunk(all[:len(all)&^1], 2) {
		scope, setting := pair[0], pair[1]
		key, value, given := strings.Cut(setting, "\n")
		at := user
		if scope == "local" || scope == "worktree" {
			at = own
		}
		switch on := !given || isTrue(value); {
		case key == "core.attributesfile":
			attributes = r.path(value)
			at.add(setting)
		case key == "core.filemode":
			c.FileMode = on
			at.flag(setting, on)
		case key == "core.symlinks":
			c.Symlinks = on
			at.flag(setting, on)
		default:
			at.add(setting)
		}
	}

	user.file(attributes)
	if filepath.Separator == '/' {
		user.file("/etc/gitattributes")
	}
	if common, _, found := paths.Repository(r.dir); found {
		own.file(filepath.Join(common, "info", "attributes"))
	}
	c.User, c.Own = user.sum(), own.sum()
	return c, nil
}

// userConfig is the folder of the user's files beside ~/.gitconfig.
func (r Repo) userConfig() string {
	if dir := environ.Get(r.env, "XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	return filepath.Join(environ.Get(r.env, "HOME"), ".config", "git")
}

// path is one that a setting names.
func (r Repo) path(name string) string {
	if rest, home := strings.CutPrefix(name, "~/"); home {
		return filepath.Join(environ.Get(r.env, "HOME"), rest)
	}
	if top, found := paths.GitRoot(r.dir); found && !filepath.IsAbs(name) {
		return filepath.Join(top, name)
	}
	return name
}

// isTrue reads a value as git does.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off", "":
		return false
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}

// settings collects what is said in one place.
type settings struct {
	hash.Hash
	any bool
}

func (s *settings) add(text string) {
	fmt.Fprintf(s, "%d %s", len(text), text)
	s.any = true
}

// flag adds a setting that every new repository has, unless it is as there.
func (s *settings) flag(text string, usual bool) {
	if !usual {
		s.add(text)
	}
}

// file adds what a file holds. One that cannot be read holds nothing for git either.
func (s *settings) file(name string) {
	const most = 16 << 20 // git takes less than 100 MB
	if text, err := regular.Read(name, most); err == nil && len(text) > 0 {
		s.add(string(text))
	}
}

func (s *settings) sum() (sum Settings) {
	if s.any {
		copy(sum[:], s.Sum(nil))
	}
	return sum
}
