package enclave_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/enclave"
)

// A mount goes where its directory goes, and a link leads where it is put: a watch sees both, and nothing else.
func TestE6AWatchSeesWhatMoves(t *testing.T) {
	for name, test := range map[string]struct {
		change func(real, link string) error
		moved  bool
	}{
		"nothing":                   {func(string, string) error { return nil }, false},
		"a file in it":              {func(real, _ string) error { return os.WriteFile(filepath.Join(real, "x"), nil, 0o600) }, false},
		"the directory":             {func(real, _ string) error { return os.Rename(real, real+"2") }, true},
		"the directory is gone":     {func(real, _ string) error { return os.Remove(real) }, true},
		"the link":                  {func(_, link string) error { return os.Rename(link, link+"2") }, true},
		"the link is gone":          {func(_, link string) error { return os.Remove(link) }, true},
		"the link, to another name": {func(real, link string) error { return replaceLink(real+"/.", link) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
			check(t, os.Mkdir(real, 0o700))
			check(t, os.Symlink(real, link))
			watch, err := enclave.NewWatch(link, real)
			check(t, err)
			check(t, test.change(real, link))
			if moved := watch.Close(); moved != test.moved {
				t.Errorf("moved is %t", moved)
			}
		})
	}
}

// replaceLink puts another link in the place of one in one step, as ln -sfn does.
func replaceLink(target, link string) error {
	if err := os.Symlink(target, link+".new"); err != nil {
		return err
	}
	return os.Rename(link+".new", link)
}
