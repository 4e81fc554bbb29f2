package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnitText(t *testing.T) {
	text, err := unitText("/opt/100% \"odd\" $x/stop\\gated", map[string]string{"PATH": "/a b:/c", "STOPGATE_STATE_DIR": ""})
	check(t, err)
	head, rest, _ := strings.Cut(text, "\n")
	want := `[Unit]
Description=stopgate: runs pipelines and agents

[Service]
ExecStart="/opt/100%% \"odd\" $x/stop\\gated" daemon
Environment="PATH=/a b:/c"
Restart=on-failure
RestartSec=1
KillMode=process

[Install]
WantedBy=default.target
`
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Error(diff)
	}
	if head+"\n" != unitHead(rest) {
		t.Errorf("head %q", head)
	}
	if got := UnitProgram(text); got != "/opt/100% \"odd\" $x/stop\\gated" {
		t.Errorf("it starts %s", got)
	}
	for _, path := range []string{"/a\nExecStart=/evil", "/a\x00", "/a\x7f"} {
		if text, err := unitText(path, nil); err == nil {
			t.Errorf("%q: %s", path, text)
		}
		if text, err := unitText("/a", map[string]string{"PATH": path}); err == nil {
			t.Errorf("PATH %q: %s", path, text)
		}
	}
}

// The unit of packages is the one that daemon install writes, without what is the user's own.
func TestIssue19TheUnitOfPackages(t *testing.T) {
	packaged, err := os.ReadFile("../../../packaging/stopgated.service")
	check(t, err)
	ours, err := unitText("/usr/bin/stopgated", nil)
	check(t, err)
	_, packagedRest, _ := strings.Cut(string(packaged), "\n")
	_, oursRest, _ := strings.Cut(ours, "\n")
	if diff := cmp.Diff(oursRest, packagedRest); diff != "" {
		t.Error(diff)
	}
}

// A unit of a package runs the daemon once systemctl enable has linked it.
func TestIssue19AnEnabledUnitOfAPackageRunsTheDaemon(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	packaged, err := filepath.Abs("../../../packaging/stopgated.service")
	check(t, err)
	if hasUnit(getenv) {
		t.Error("there is a unit before anything was enabled")
	}

	wants := filepath.Join(home, ".config", "systemd", "user", "default.target.wants")
	check(t, os.MkdirAll(wants, 0o700))
	check(t, os.Symlink(packaged, filepath.Join(wants, unitName)))
	if !hasUnit(getenv) {
		t.Error("an enabled unit of a package is not seen")
	}

	elsewhere := func(name string) string {
		return map[string]string{"HOME": home, "STOPGATE_STATE_DIR": "/elsewhere"}[name]
	}
	if hasUnit(elsewhere) {
		t.Error("the unit of a package is taken for one with another state directory")
	}
}

func TestReadUnit(t *testing.T) {
	path := filepath.Join(t.TempDir(), unitName)
	if text, err := readUnit(path, false); text != "" || err != nil {
		t.Errorf("none: %q, %v", text, err)
	}
	ours, err := unitText("/stopgated", nil)
	check(t, err)
	for text, known := range map[string]bool{
		ours: true, ours + "Nice=5\n": false, strings.TrimSuffix(ours, "\n"): false, "": false, "[Unit]\n": false, ours[1:]: false,
	} {
		check(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := readUnit(path, false); (err == nil) != known {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := readUnit(path, true); err != nil {
			t.Errorf("%q with force: %v", text, err)
		}
	}
}

func TestUnitPath(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": "/h"}, "/h/.config/systemd/user/stopgated.service"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/systemd/user/stopgated.service"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "x"}, "/h/.config/systemd/user/stopgated.service"},
		{nil, ""},
	} {
		got, err := UnitPath(func(name string) string { return test.env[name] })
		if filepath.ToSlash(got) != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%v: %q, %v", test.env, got, err)
		}
	}
}

func TestOtherStateDir(t *testing.T) {
	home := t.TempDir()
	for _, test := range []struct{ name, value, want string }{
		{"", "", ""},
		{"STOPGATE_STATE_DIR", "/elsewhere", "/elsewhere"},
		{"XDG_STATE_HOME", "/xdg", "/xdg/stopgate"},
		{"STOPGATE_STATE_DIR", filepath.Join(home, ".local", "state", "stopgate"), ""},
	} {
		got, err := otherStateDir(func(name string) string {
			switch name {
			case "HOME", "USERPROFILE":
				return home
			case test.name:
				return test.value
			}
			return ""
		})
		if err != nil || !strings.HasSuffix(filepath.ToSlash(got), test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s=%s: %q, %v", test.name, test.value, got, err)
		}
	}
}
