//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Fix instructions never come from outside, and never make us wait.
func TestFixInstructionsStayInside(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	for name, c := range map[string]struct {
		make func(path string) error
		want string // what is wrong with it; empty: nothing
	}{
		"file":           {func(p string) error { return os.WriteFile(p, []byte("text"), 0o600) }, ""},
		"link inside":    {func(p string) error { return os.Symlink("config.yml", p) }, ""},
		"link outside":   {func(p string) error { return os.Symlink(filepath.Join(outside, "secret"), p) }, "cannot be read: path escapes"},
		"link up":        {func(p string) error { return os.Symlink("../../etc/hosts", p) }, "cannot be read: path escapes"},
		"link into void": {func(p string) error { return os.Symlink("gone", p) }, "does not exist"},
		"link loop":      {func(p string) error { return os.Symlink("fix", p) }, "cannot be read: "},
		"missing":        {func(string) error { return nil }, "does not exist"},
		"folder":         {func(p string) error { return os.Mkdir(p, 0o700) }, "is not a regular file"},
		"pipe":           {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "is not a regular file"},
		"device":         {func(p string) error { return os.Symlink("/dev/zero", p) }, "cannot be read: path escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := files{
				"config.yml":   "entry_points: [{path: ., checks: [a]}]\n",
				"checks/a.yml": "command: x\nfix_instructions: fix\n",
			}.write(t)
			check(t, c.make(filepath.Join(dir, "fix")))
			err := soon(t, func() error {
				_, err := load(t, dir)
				return err
			})
			want := `.gauntlet/checks/a.yml:2:19: fix_instructions: "fix" ` + c.want
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// A .gauntlet that is itself a link is as good as any.
func TestLinkedGauntlet(t *testing.T) {
	dir := files{
		"config.yml":   "entry_points: [{path: ., checks: [a]}]\n",
		"checks/a.yml": "command: x\nfix_instructions: fix.md\n",
		"fix.md":       "text",
	}.write(t)
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(dir, link))
	gates, err := load(t, link)
	if err != nil || gates.EntryPoints[0].Checks[0].FixInstructions != "text" {
		t.Errorf("got %+v, %v", gates, err)
	}
}

func TestStrangeGateFiles(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"pipe":             {func(d string) error { return syscall.Mkfifo(d+"/checks/a.yml", 0o600) }, ".gauntlet/checks/a.yml: is not a regular file"},
		"link into void":   {func(d string) error { return os.Symlink("gone", d+"/checks/a.yml") }, ".gauntlet/checks/a.yml: is a link to a file that does not exist"},
		"folder is a file": {func(d string) error { return os.WriteFile(d+"/reviews", nil, 0o600) }, ".gauntlet/reviews: cannot be read: not a directory"},
		"folder is lost":   {func(d string) error { return os.Symlink("gone", d+"/reviews") }, ".gauntlet/reviews: "},
		"newline":          {func(d string) error { return os.WriteFile(d+"/checks/a\nb.yml", []byte("command: x"), 0o600) }, ".gauntlet/checks/a\ufffdb.yml: invalid gate name \"a\\nb\""},
		"escape sequence":  {func(d string) error { return os.WriteFile(d+"/checks/\x1b[31m.yml", []byte("command: x"), 0o600) }, ".gauntlet/checks/\ufffd[31m.yml: invalid gate name \"\\x1b[31m\""},
		"not UTF-8":        {func(d string) error { return os.WriteFile(d+"/checks/a\xff.yml", []byte("command: x"), 0o600) }, ".gauntlet/checks/a\ufffd.yml: invalid gate name \"a\\xff\""},
		"ten megabytes": {
			func(d string) error {
				return os.WriteFile(d+"/checks/a.yml", []byte(strings.Repeat("#\n", 5<<20)), 0o600)
			},
			".gauntlet/checks/a.yml: is larger than 1 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			check(t, os.Mkdir(dir+"/checks", 0o700))
			if err := c.make(dir); err != nil {
				t.Skip(err) // not every file system takes every name
			}
			err := soon(t, func() error {
				_, err := LoadGates(dir, ".gauntlet", nil)
				return err
			})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("not fit to print: %q", err)
			}
		})
	}
}
