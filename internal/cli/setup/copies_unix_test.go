//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// What a program prints says which build it is, and it is asked once.
func TestIssue19WhatAProgramSaysOfItself(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "stopgate")
	checktest.OK(t, os.WriteFile(path, []byte("#!/bin/sh\necho x >>\"$0.ran\"\necho 'stopgate v1.2.3 (commit 0123456789ab, go1.26, linux/amd64)'\n"), 0o700))
	f := finder{ctx: t.Context(), asked: map[string]answer{}}
	for range 2 {
		if got := f.ask(path); got != (answer{version: "v1.2.3", commit: "0123456789ab"}) {
			t.Errorf("%+v", got)
		}
	}
	if ran, err := os.ReadFile(path + ".ran"); err != nil || string(ran) != "x\n" {
		t.Errorf("it ran %q %v", ran, err)
	}
}

// What renews the settings of a project is done there; those of the user are the same everywhere.
func TestIssue19WhatRenewsAFileIsDoneWhereItIs(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		scope settings.Scope
		dir   string
		cd    bool
	}{{settings.Local, there, true}, {settings.Project, there, true}, {settings.Local, here, false}, {settings.User, there, false}} {
		if got := renewIn(c.dir, here, settings.File{Scope: c.scope}); strings.HasPrefix(got, "cd ") != c.cd {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
