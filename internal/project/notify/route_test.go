package notify

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

func ptr[T any](v T) *T { return &v }

func TestRoute(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	for _, dir := range []string{"code/play/deep", "code/shop", "codebook", "real"} {
		check(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	links := runtime.GOOS != "windows"
	if links {
		check(t, os.Symlink(filepath.Join(home, "code"), filepath.Join(home, "linked")))
		check(t, os.Symlink(filepath.Join(home, "real"), filepath.Join(home, "named")))
	}
	c := config.Notify{
		Ways: config.Ways{Command: "general", URLs: []string{"ntfy://a/b"}, Quiet: config.Quiet{From: 1, To: 2}},
		Projects: []config.ProjectNotify{
			{Path: "~/code/play", Muted: true},
			{Path: "~/code", Command: ptr(""), Desktop: ptr(true), Quiet: &config.Quiet{}},
			{Path: filepath.Join(home, "named"), Command: ptr("by its link")},
			{Path: "~/gone", Command: ptr("gone")},
		},
	}
	code := config.Ways{Desktop: true, URLs: c.URLs}
	muted := c.Ways
	muted.Muted = true
	with := func(command string) config.Ways {
		w := c.Ways
		w.Command = command
		return w
	}
	for project, want := range map[string]config.Ways{
		"":                                 c.Ways,
		"/":                                c.Ways,
		home:                               c.Ways,
		filepath.Join(home, "code"):        code,
		filepath.Join(home, "code") + "//": code,
		filepath.Join(home, "code/shop"):   code,
		filepath.Join(home, "code/never"):  code,
		filepath.Join(home, "code/play"):   muted,
		filepath.Join(home, "code/play/deep/er/../x"): muted,
		filepath.Join(home, "code/playground"):        code,
		filepath.Join(home, "codebook"):               c.Ways,
		filepath.Join(home, "gone/away"):              with("gone"),
		filepath.Join(home, "~/code"):                 c.Ways,
	} {
		if diff := cmp.Diff(want, Route(c, home, project)); diff != "" {
			t.Errorf("%s: %s", project, diff)
		}
	}
	if !links {
		return
	}
	for project, want := range map[string]config.Ways{
		filepath.Join(home, "linked/shop"):  code,
		filepath.Join(home, "linked/play"):  muted,
		filepath.Join(home, "linked/never"): code,
		filepath.Join(home, "real"):         with("by its link"),
		filepath.Join(home, "real/x"):       with("by its link"),
	} {
		if diff := cmp.Diff(want, Route(c, home, project)); diff != "" {
			t.Errorf("%s: %s", project, diff)
		}
	}
}

// Without a home there is nothing that ~ stands for, not even the root.
func TestRouteWithoutHome(t *testing.T) {
	c := config.Notify{Projects: []config.ProjectNotify{{Path: "~/", Muted: true}}}
	if Route(c, "", "/etc").Muted {
		t.Error("it is taken for the root")
	}
}
