//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestE16ATaskRunnerHasItsManifest(t *testing.T) {
	const rules = "A := b\n.PHONY: all\nall lint: \\\n  dep\n\techo test:\none \\\n  two: three\n"
	for name, tt := range map[string]struct {
		command         string
		files           map[string]string // without content: a file that is empty
		missing, unsure []string
		environ         string
	}{
		"no makefile":                      {command: "make lint", missing: []string{"Makefile"}},
		"a makefile":                       {command: "make lint", files: map[string]string{"Makefile": rules}},
		"in lower case":                    {command: "make lint", files: map[string]string{"makefile": rules}},
		"make does not look above":         {command: "cd sub && make lint", files: map[string]string{"Makefile": rules, "sub/x": ""}, missing: []string{"Makefile"}},
		"-C":                               {command: "make -C sub lint", files: map[string]string{"sub/Makefile": rules}},
		"-C to where there is none":        {command: "make -C sub lint", files: map[string]string{"Makefile": rules, "sub/x": ""}, missing: []string{"Makefile"}},
		"-f":                               {command: "make -f x.mk lint", files: map[string]string{"x.mk": ""}},
		"-f of one that is not there":      {command: "make -f x.mk lint", files: map[string]string{"Makefile": rules}, missing: []string{"x.mk"}},
		"a target of several":              {command: "make all one two", files: map[string]string{"Makefile": rules}},
		"no such target":                   {command: "make test", files: map[string]string{"Makefile": rules}, unsure: []string{"make test"}},
		"a variable is no target":          {command: "make A", files: map[string]string{"Makefile": rules}, unsure: []string{"make A"}},
		"a target in an included makefile": {command: "make test", files: map[string]string{"Makefile": "-include *.mk\n"}},
		"a pattern":                        {command: "make test", files: map[string]string{"Makefile": "te%:\n"}},
		"a computed target":                {command: "make test", files: map[string]string{"Makefile": "$(ALL): x\n"}},
		"made by eval":                     {command: "make test", files: map[string]string{"Makefile": "$(foreach t,a b,$(eval $(call rule,$t)))\n"}},
		"a rule for all":                   {command: "make test", files: map[string]string{"Makefile": ".DEFAULT:\n\ttrue\n"}},
		"make knows how to compile":        {command: "make hello", files: map[string]string{"hello.c": ""}},
		"make compiles in a folder":        {command: "cd '[a]' && make hello", files: map[string]string{"[a]/hello.c": ""}},
		"a command makes it before":        {command: "./configure && make lint", files: map[string]string{"configure": ""}, unsure: []string{"make lint"}},
		"the line looks for it":            {command: "if [ -f Makefile ]; then make lint; fi"},
		"a variable names more makefiles":  {command: "MAKEFILES=x make lint"},
		"a variable of the environment":    {command: "make lint", environ: "MAKEFILES=x"},
		"a variable of another program":    {command: "make lint", environ: "GOWORK=off", missing: []string{"Makefile"}},

		"no package.json":            {command: "npm run lint", missing: []string{"package.json"}},
		"a script":                   {command: "npm run lint", files: map[string]string{"package.json": `{"scripts": {"lint": "x"}}`}},
		"in a folder above":          {command: "cd sub && npm run lint", files: map[string]string{"package.json": `{"scripts": {"lint": "x"}}`, "sub/x": ""}},
		"no such script":             {command: "npm run lint", files: map[string]string{"package.json": `{"scripts": {"test": "lint"}}`}, unsure: []string{"npm run lint"}},
		"no scripts":                 {command: "npm test", files: map[string]string{"package.json": `{}`}, unsure: []string{"npm test"}},
		"a broken one":               {command: "npm test", files: map[string]string{"package.json": `{`}, unsure: []string{"npm test"}},
		"scripts are not looked for": {command: "pnpm run lint", files: map[string]string{"package.yaml": ""}},

		"no module":    {command: "go vet ./...", missing: []string{"go.mod"}},
		"a module":     {command: "go vet ./...", files: map[string]string{"go.mod": ""}},
		"a workspace":  {command: "cd sub && go test ./...", files: map[string]string{"go.work": "", "sub/x": ""}},
		"GOPATH":       {command: "export GO111MODULE=off; go vet ./..."},
		"no crate":     {command: "cargo test", missing: []string{"Cargo.toml"}},
		"no justfile":  {command: "just lint", missing: []string{"justfile"}},
		"a Justfile":   {command: "just lint", files: map[string]string{"Justfile": ""}},
		"no Taskfile":  {command: "task lint", missing: []string{"Taskfile.yml"}},
		"no pom":       {command: "mvn -q verify", missing: []string{"pom.xml"}},
		"no build":     {command: "gradle check", missing: []string{"build.gradle"}},
		"its settings": {command: "gradle check", files: map[string]string{"settings.gradle.kts": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			root, bin := t.TempDir(), t.TempDir()
			for file, text := range tt.files {
				write(t, filepath.Join(root, filepath.FromSlash(file)), text)
			}
			for _, program := range strings.Fields("make npm pnpm go cargo just task mvn gradle") {
				environtest.Program(t, filepath.Join(bin, program), "#!/bin/sh\ntouch ran\n")
			}
			s := survey(t, root, tt.command)
			s.Environ = []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), tt.environ}
			got := names(s.commands(t.Context()))
			if !cmp.Equal(got.missing, tt.missing) || !cmp.Equal(got.unsure, tt.unsure) {
				t.Errorf("missing %q, want %q; unsure %q, want %q", got.missing, tt.missing, got.unsure, tt.unsure)
			}
			if exists(filepath.Join(root, "ran")) {
				t.Error("it was run")
			}
		})
	}
}

// A folder that is a link to another place has that place's folders above it, too.
func TestE16AManifestAboveALink(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(other, "go.mod"), "")
	write(t, filepath.Join(other, "sub", "x.go"), "")
	check(t, os.Symlink(filepath.Join(other, "sub"), filepath.Join(root, "sub")))
	if got := names(survey(t, root, "cd sub && go vet ./...").commands(t.Context())); len(got.missing) > 0 {
		t.Errorf("missing: %q", got.missing)
	}
}

// What runs of an edited .gauntlet is what was approved.
func TestE16AManifestIsTheApprovedOne(t *testing.T) {
	for name, missing := range map[string]int{"approved": 0, "planted": 1} {
		root, approved := t.TempDir(), t.TempDir()
		dirs := map[string]string{"approved": approved, "planted": filepath.Join(root, ".gauntlet")}
		write(t, filepath.Join(dirs[name], "Makefile"), "lint:\n")
		s := survey(t, root, "make -C .gauntlet lint")
		s.Project.ConfigDir, s.Project.Edited = approved, []string{"Makefile"}
		if got := names(s.commands(t.Context())); len(got.missing) != missing {
			t.Errorf("%s: missing %q", name, got.missing)
		}
	}
}

// A command for an event has no history that could tell whether there is a task.
func TestE16TasksOfCommandsForEvents(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, ".gauntlet")
	write(t, filepath.Join(root, "Makefile"), "all:\n")
	write(t, filepath.Join(dir, "config.yml"), "hooks:\n  Stop:\n    - run: make lint\n    - run: npm run lint\n")
	project, err := config.LoadProject(dir, dir)
	check(t, err)
	s := survey(t, t.TempDir(), "true")
	s.Project.Root, s.Project.Config = root, project
	got := names(s.commands(t.Context()))
	if len(got.unsure) > 0 || !slices.Contains(got.missing, "package.json") || slices.Contains(got.missing, "Makefile") {
		t.Errorf("unsure %q, missing %q", got.unsure, got.missing)
	}
}
