package config

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/project/document"
)

// CIFile lies beside config.yml.
const CIFile = "ci.yml"

// CI is a project's .gauntlet/ci.yml: what a check needs on a machine that has
// nothing yet.
type CI struct {
	// Runtimes and Services are free-form, under their names.
	Runtimes map[string]map[string]any
	Services map[string]map[string]any
	// Setup comes before every check.
	Setup  []CIStep
	Checks []CICheck
}

// CIStep is a command that prepares the machine.
type CIStep struct {
	Name string
	Run  string
	// WorkingDirectory is relative to the project's root; empty for the root.
	WorkingDirectory string
}

// CICheck is a check that runs in CI, and what it needs there.
type CICheck struct {
	Name             string
	RequiresRuntimes []string
	RequiresServices []string
	Setup            []CIStep
	Pos              document.Position
}

// LoadCI reads ci.yml in dir. Faults name the file as if dir were shown; a
// missing file is one, too, and fs.ErrNotExist.
func LoadCI(dir, shown string) (*CI, error) {
	name := filepath.Join(shown, CIFile)
	data, err := read(filepath.Join(dir, CIFile), name)
	if faults, ok := err.(*document.Faults); ok {
		if errors.Is(err, fs.ErrNotExist) {
			faults.All[0].Hint = "create it with: stopgate ci init"
		}
		return nil, err
	}
	return ParseCI(name, data)
}

// ParseCI reads the content of a ci.yml. The name is for faults and positions
// only.
func ParseCI(name string, data []byte) (*CI, error) {
	ci := &CI{}
	err := decode(newSource(name, data), func(v value) {
		checks := nothing
		v.Mapping(ci.fields(&checks)...)
		// Last, because they name runtimes and services wherever those are written.
		ci.checks().Read(checks, &ci.Checks)
	})
	if err != nil {
		return nil, err
	}
	return ci, nil
}

func (c *CI) fields(checks *value) []field {
	return []field{
		document.Key("runtimes", &c.Runtimes, objects, "Languages and their versions, free-form, under their names."),
		document.Key("services", &c.Services, objects, "Services such as databases, free-form, under their names."),
		document.Key("setup", &c.Setup, listOf(section((*CIStep).fields)), "Commands to run before every check."),
		document.Key("checks", checks, later(c.checks()), "The checks that run in CI."),
	}
}

func (c *CI) checks() typeOf[[]CICheck] {
	t := section(c.checkFields)
	return listOf(document.New(func(v value, to *CICheck) bool {
		to.Pos = v.Position()
		return t.Read(v, to)
	}, t.Schema))
}

func (c *CI) checkFields(to *CICheck) []field {
	return []field{
		document.Key("name", &to.Name, command(), "The check that runs.").Needed(),
		document.Key("requires_runtimes", &to.RequiresRuntimes, listOf(keyOf("runtime", c.Runtimes)), "Names of the runtimes that it needs."),
		document.Key("requires_services", &to.RequiresServices, listOf(keyOf("service", c.Services)), "Names of the services that it needs."),
		document.Key("setup", &to.Setup, listOf(section((*CIStep).fields)), "Commands to run before this check."),
	}
}

// keyOf reads a name that was given a meaning elsewhere in the file.
func keyOf(what string, known map[string]map[string]any) typeOf[string] {
	names := slices.Sorted(maps.Keys(known))
	return document.Then(anyText, func(v value, name string) (string, bool) {
		found := slices.Contains(names, name)
		if !found {
			v.Unknown(what, name, v, names)
		}
		return name, found
	})
}

func (s *CIStep) fields() []field {
	var condition string
	return []field{
		document.Key("name", &s.Name, command(), "").Needed(),
		document.Key("run", &s.Run, command(), "Run by a shell.").Needed(),
		document.Key("working_directory", &s.WorkingDirectory, folder(), "Relative to the project's root, which is the default."),
		document.Key("if", &condition, anyText, "Accepted for compatibility with agent-gauntlet; has no effect."),
	}
}
