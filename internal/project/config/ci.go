package config

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
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
	Pos              Position
}

// LoadCI reads ci.yml in dir. Faults name the file as if dir were shown; a
// missing file is one, too, and fs.ErrNotExist.
func LoadCI(dir, shown string) (*CI, error) {
	name := filepath.Join(shown, CIFile)
	data, err := read(filepath.Join(dir, CIFile), name)
	if faults, ok := err.(*Faults); ok {
		if errors.Is(err, fs.ErrNotExist) {
			faults.All[0].Hint = "write one with: stopgate ci init"
		}
		return nil, err
	}
	return ParseCI(name, data)
}

// ParseCI reads the content of a ci.yml. The name is for faults and positions
// only.
func ParseCI(name string, data []byte) (*CI, error) {
	ci := &CI{}
	if err := decode(name, data, ci.read); err != nil {
		return nil, err
	}
	return ci, nil
}

func (c *CI) read(v value) {
	var checks value
	v.mapping(
		field{key: "runtimes", read: func(v value) { c.Runtimes = readObjects(v) }},
		field{key: "services", read: func(v value) { c.Services = readObjects(v) }},
		field{key: "setup", read: listOf(&c.Setup, readStep)},
		field{key: "checks", read: func(v value) { checks = v }},
	)
	listOf(&c.Checks, c.readCheck)(checks)
}

func (c *CI) readCheck(v value, to *CICheck) bool {
	to.Pos = v.position()
	v.mapping(
		field{key: "name", required: true, read: into(&to.Name, value.command)},
		field{key: "requires_runtimes", read: listOf(&to.RequiresRuntimes, keyOf("runtime", c.Runtimes))},
		field{key: "requires_services", read: listOf(&to.RequiresServices, keyOf("service", c.Services))},
		field{key: "setup", read: listOf(&to.Setup, readStep)},
	)
	return true
}

// keyOf reads a name that was given a meaning elsewhere in the file.
func keyOf(what string, known map[string]map[string]any) func(value, *string) bool {
	names := slices.Sorted(maps.Keys(known))
	return func(v value, to *string) bool {
		if !v.text(to) {
			return false
		}
		if !slices.Contains(names, *to) {
			v.d.unknown(what, *to, start(v.node), names)
			return false
		}
		return true
	}
}

func readStep(v value, to *CIStep) bool {
	var condition string // the older tool takes one and does nothing with it
	v.mapping(
		field{key: "name", required: true, read: into(&to.Name, value.command)},
		field{key: "run", required: true, read: into(&to.Run, value.command)},
		field{key: "working_directory", read: into(&to.WorkingDirectory, value.folder)},
		field{key: "if", read: into(&condition, value.text)},
	)
	return true
}
