package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// Of the global config, which agent-gauntlet reads too, only what stopgate wrote is taken out.
func TestIssue19OnlyWhatStopgateWroteLeavesTheGlobalConfig(t *testing.T) {
	for _, test := range []struct {
		name, before string
		there        bool
	}{
		{"no file", "", false},
		{"an empty file", "", true},
		{"agent-gauntlet's settings", "# mine\nstop_hook:\n  enabled: true # yes\n", true},
		{"no line end", "debug_log: {enabled: true}", true},
		{"Windows line ends", "quiet: true\r\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yml")
			if test.there {
				check(t, os.WriteFile(path, []byte(test.before), 0o640))
				check(t, os.Chmod(path, 0o640)) // whatever the umask
			}
			_, err := EnforceTrust(path)
			check(t, err)
			want := map[bool]Enforced{false: EnforcedFile, true: EnforcedLine}[test.there]
			if got := FindEnforced(path); got != want {
				t.Errorf("found %q, want %q", got, want)
			}
			check(t, WithdrawTrust(path))

			text, err := os.ReadFile(path)
			if !test.there {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the file that stopgate made is still there: %v", err)
				}
				return
			}
			check(t, err)
			if got := string(text); got != test.before && got != test.before+"\n" {
				t.Errorf("got %q, want %q", got, test.before)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 && filepath.Separator == '/' {
				t.Error(info.Mode(), err)
			}
			if got := FindEnforced(path); got != EnforcedNothing {
				t.Errorf("%q is left", got)
			}
			check(t, WithdrawTrust(path))
		})
	}
}

func TestIssue19AGlobalConfigThatCannotBeReadStays(t *testing.T) {
	for _, text := range []string{
		"fleet: {projects: [{name: shop, path: \"/a\ntrust: enforce\nb\"}]}\ntrust: enforce\n", "trust: enforce\nquiet: [", "trust: enforce\nqiuet: true\n", "{trust: enforce}\n", "trust: &t enforce\n", newGlobal + "\x00",
	} {
		path := filepath.Join(t.TempDir(), "config.yml")
		check(t, os.WriteFile(path, []byte(text), 0o600))
		if got := FindEnforced(path); got != EnforcedNothing {
			t.Errorf("%q: found %q", text, got)
		}
		_ = WithdrawTrust(path) // it may say what is wrong with the file
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q became %q: %v", text, got, err)
		}
	}
}

// An editor of Windows may have changed all line ends since.
func TestIssue19TheLineMayEndAsOnWindows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yml")
	check(t, os.WriteFile(path, []byte("quiet: true\r\ntrust: enforce\r\n"), 0o600))
	check(t, WithdrawTrust(path))
	if text, err := os.ReadFile(path); err != nil || string(text) != "quiet: true\r\n" {
		t.Errorf("%q %v", text, err)
	}
}

// A link of a dotfile manager stays a link, and what it leads to is changed.
func TestIssue19TheGlobalConfigStaysALink(t *testing.T) {
	dir := t.TempDir()
	path, target := filepath.Join(dir, "config.yml"), filepath.Join(dir, "dotfiles.yml")
	check(t, os.WriteFile(target, []byte("quiet: true\ntrust: enforce\n"), 0o600))
	err := os.Symlink(target, path)
	if _, missing := os.Lstat(path); err != nil || missing != nil {
		t.Skip(err, missing) // Windows lets administrators make links; Wine makes none, without an error
	}
	check(t, WithdrawTrust(path))
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v %v", info, err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "quiet: true\n" {
		t.Errorf("%q %v", text, err)
	}
}

// A link of a dotfile manager stays, and the file that it leads to changes.
func TestIssue19AGlobalConfigBehindALink(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "dotfiles.yml"), filepath.Join(dir, "config.yml")
	check(t, os.WriteFile(target, []byte("quiet: true\n"), 0o600))
	environtest.Symlink(t, target, path)
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { _, err := EnforceTrust(path); return err }, "quiet: true\ntrust: enforce\n"},
		{func() error { return WithdrawTrust(path) }, "quiet: true\n"},
	} {
		check(t, step.do())
		text, err := os.ReadFile(target)
		check(t, err)
		if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSymlink || string(text) != step.want {
			t.Errorf("%v, %v: %q", info.Mode(), err, text)
		}
	}
}
