package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Conversion is how git makes files of what commits hold, besides the attributes that commits bring: the ends of
// lines, and the programs that a file goes through. It is kept, so that what is set later does not count.
type Conversion struct {
	Settings   []string `json:"settings,omitempty"`   // name=value, the last one of a name counts
	User       string   `json:"user,omitempty"`       // attributes of all repositories
	Repository string   `json:"repository,omitempty"` // attributes of this one, which are not committed
}

// maxAttributes is far more than what git reads of a file with attributes.
const maxAttributes = 128 << 20

// Conversion reads what is in force in the directory. Without own, the repository's own attributes are left out, and
// its own filters that are not known.
func (r Repo) Conversion(ctx context.Context, own bool) (c Conversion, err error) {
	const wanted = `^(core\.(autocrlf|eol|attributesfile|checkroundtripencoding)|filter\..*)$`
	args := []string{"config", "-z", "--get-regexp", wanted}
	if !own {
		args = slices.Insert(args, 2, "--show-scope")
	}
	out, err := r.output(ctx, args...)
	if err != nil && code(err) != 1 { // 1: nothing is set
		return Conversion{}, err
	}

	all, file := conversions(out, !own)
	c.Settings = withoutLFS(all)
	c.User = r.userAttributes(file)
	if common, _, found := paths.Repository(r.dir); own && found {
		c.Repository = attributesIn(filepath.Join(common, "info", "attributes"))
	}
	return c, nil
}

// decrypts are the other ways of filters that are known.
var decrypts = []string{`"git-crypt" smudge`, "git-crypt smudge"}

// conversions reads settings, and which file has the user's attributes. With scopes, the repository's own are left
// out, except for the ends of lines and known filters: they cannot make a file say something else.
//
// That a filter must not fail is not among them: the others would not be converted either.
func conversions(out string, scopes bool) (settings []string, attributes string) {
	scope := ""
	for record := range records(out) {
		if scopes && scope == "" {
			scope = record
			continue
		}
		name, value, valued := strings.Cut(record, "\n")
		own := scope == "local" || scope == "worktree"
		switch {
		case strings.HasSuffix(name, ".required"):
		case own && name != "core.autocrlf" && name != "core.eol" && !slices.Contains(known, value) && !slices.Contains(decrypts, value):
		case name == "core.attributesfile":
			attributes = value
		case valued:
			settings = append(settings, name+"="+value)
		default:
			settings = append(settings, name)
		}
		scope = ""
	}
	return settings, attributes
}

// withoutLFS leaves out the filters of Git LFS, which would ask its server for what it does not find. See LargeFile.
func withoutLFS(settings []string) []string {
	driver := func(setting string) string {
		name, _, _ := strings.Cut(setting, "=")
		return name[:strings.LastIndex(name, ".")+1]
	}
	large := map[string]bool{}
	for _, setting := range settings {
		if _, command, _ := strings.Cut(setting, "="); strings.HasPrefix(command, "git-lfs ") || strings.HasPrefix(command, "git lfs ") {
			large[driver(setting)] = true
		}
	}
	return slices.DeleteFunc(settings, func(setting string) bool { return large[driver(setting)] })
}

// userAttributes are those of a file that the configuration names, or else of the usual one.
func (r Repo) userAttributes(file string) string {
	home := environ.Get(r.env, "HOME")
	if rest, below := strings.CutPrefix(file, "~/"); below {
		file = filepath.Join(home, rest)
	}
	if file == "" {
		user := environ.Get(r.env, "XDG_CONFIG_HOME")
		if user == "" {
			user = filepath.Join(home, ".config")
		}
		file = filepath.Join(user, "git", "attributes")
	}
	if !filepath.IsAbs(file) {
		return "" // without a home there are none
	}
	return attributesIn(file)
}

// attributesIn are none where they cannot be read.
func attributesIn(file string) string {
	text, err := regular.Read(file, maxAttributes)
	if err != nil {
		return ""
	}
	return string(text)
}

// LargeFile is the SHA-256 of a file that Git LFS keeps elsewhere, if a content is what it leaves in its place.
func LargeFile(content []byte) (sum string, is bool) {
	const longest = 1024
	text, is := strings.CutPrefix(string(content[:min(len(content), longest)]), "version https://git-lfs.github.com/spec/v1\n")
	if !is || len(content) > longest {
		return "", false
	}
	for line := range strings.Lines(text) {
		if sum, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "oid sha256:"); is && len(sum) == 64 && IsID(sum) {
			return sum, true
		}
	}
	return "", false
}
