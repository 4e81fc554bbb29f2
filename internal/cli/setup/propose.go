package setup

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// proposal is a check that a project's own files suggest.
type proposal struct {
	newCheck
	why string // for a person
}

// propose finds a lint command and a test command in the files of a project: the first source that
// has one is what people run there. Where there is neither, a task named check is both.
func propose(root string) (all []proposal) {
	sources := sourcesIn(root)
	for _, name := range []string{"lint", "test", "check"} {
		if name == "check" && len(all) > 0 {
			break
		}
		for _, s := range sources {
			if command, why := s(name); command != "" {
				all = append(all, proposal{newCheck{name, command}, why})
				break
			}
		}
	}
	return all
}

// source gives the command by which a project does something, and what says so. The command is
// empty where nothing does: a check that the project does not have would always fail.
type source func(name string) (command, why string)

// sourcesIn are what may name a project's commands. Task runners come first: where a project has
// one, its tasks are made of the tools that come after.
func sourcesIn(root string) []source {
	f := files(root)
	return []source{f.makefile, f.justfile, f.taskfile, f.packageJSON, f.golang, f.cargo, f.python}
}

// files are those of a project's root.
type files string

// read is the text of the first of the files that is there.
func (f files) read(names ...string) (name, text string) {
	const most = 1 << 20
	for _, name := range names {
		if text, err := regular.Read(filepath.Join(string(f), name), most); err == nil {
			return name, string(text)
		}
	}
	return "", ""
}

// first is the first of the files that is there.
func (f files) first(names ...string) string {
	for _, name := range names {
		if disk.IsRegular(filepath.Join(string(f), name)) {
			return name
		}
	}
	return ""
}

func (f files) makefile(name string) (command, why string) {
	file, text := f.read(need.Manifests()["make"].Files...)
	if named, _ := need.HasTarget(text, name); !named {
		return "", ""
	}
	return "make " + name, file + " has the target " + name
}

func (f files) justfile(name string) (command, why string) {
	file, text := f.read(need.Manifests()["just"].Files...)
	if !need.HasRecipe(text, name) {
		return "", ""
	}
	return "just " + name, file + " has the recipe " + name
}

func (f files) taskfile(name string) (command, why string) {
	file, text := f.read(need.Manifests()["task"].Files...)
	if !need.HasTask(text, name) {
		return "", ""
	}
	return "task " + name, file + " has the task " + name
}

func (f files) packageJSON(name string) (command, why string) {
	file, text := f.read("package.json")
	script, found := need.Script([]byte(text), name)
	if !found || strings.Contains(script, "no test specified") { // what npm init writes, which always fails
		return "", ""
	}
	manager := f.packageManager(text)
	command = manager + " run " + name
	if name == "test" && manager != "bun" { // which has tests of its own
		command = manager + " " + name
	}
	return command, file + " has the script " + name
}

// packageManager is the one that a package.json names, or whose lock file is there.
func (f files) packageManager(manifest string) string {
	for _, m := range []struct{ name, lock string }{
		{"pnpm", f.first("pnpm-lock.yaml")}, {"yarn", f.first("yarn.lock")}, {"bun", f.first("bun.lock", "bun.lockb")},
	} {
		if m.lock != "" || strings.Contains(strings.ReplaceAll(manifest, " ", ""), `"packageManager":"`+m.name+`@`) {
			return m.name
		}
	}
	return "npm"
}

func (f files) golang(name string) (command, why string) {
	file := f.first("go.mod", "go.work")
	config := f.first(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")
	switch {
	case file == "":
		return "", ""
	case name == "test":
		return "go test ./...", "found " + file
	case name == "lint" && config != "":
		return "golangci-lint run", "found " + config
	case name == "lint":
		return "go vet ./...", "found " + file
	}
	return "", ""
}

func (f files) cargo(name string) (command, why string) {
	file, text := f.read("Cargo.toml")
	switch clippy := f.first("clippy.toml", ".clippy.toml"); {
	case file == "":
		return "", ""
	case name == "test":
		return "cargo test", "found " + file
	case name == "lint" && (clippy != "" || strings.Contains(text, "lints.clippy]")):
		return "cargo clippy -- -D warnings", cmp.Or(clippy, file) + " configures clippy"
	}
	return "", ""
}

func (f files) python(name string) (command, why string) {
	tools := map[string]struct {
		command, configures, named string
		files                      []string
	}{
		"test": {"pytest -q", "pytest", "pytest", []string{"pytest.ini"}},
		"lint": {"ruff check", "ruff", "[tool.ruff", []string{"ruff.toml", ".ruff.toml"}},
	}
	tool, known := tools[name]
	file, text := f.read("pyproject.toml")
	own := f.first(tool.files...)
	if !known || own == "" && !strings.Contains(text, tool.named) {
		return "", ""
	}
	runners := []struct{ lock, run string }{{"uv.lock", "uv run "}, {"poetry.lock", "poetry run "}, {"pdm.lock", "pdm run "}}
	if i := slices.IndexFunc(runners, func(r struct{ lock, run string }) bool { return f.first(r.lock) != "" }); i >= 0 {
		tool.command = runners[i].run + tool.command
	}
	return tool.command, cmp.Or(own, file) + " names " + tool.configures
}
