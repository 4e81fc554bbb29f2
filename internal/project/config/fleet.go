package config

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Fleet is what this machine is for the others of its fleet.
type Fleet struct {
	Labels   []string
	Projects []FleetProject
	Allow    []FleetAllow
}

// FleetProject is where a project that jobs name is on this machine.
type FleetProject struct {
	Name string
	Path string // absolute, or beginning with ~/
}

// Root is where a project of that name is on this machine, whose user's home is given; "" where it is not here.
func (f Fleet) Root(name, home string) string {
	for _, p := range f.Projects {
		if p.Name == name {
			return p.root(home)
		}
	}
	return ""
}

// NameOf is the name of the project at a path; "" where it has none.
func (f Fleet) NameOf(root, home string) string {
	for _, p := range f.Projects {
		if p.root(home) == filepath.Clean(root) {
			return p.Name
		}
	}
	return ""
}

func (p FleetProject) root(home string) string {
	if below, found := strings.CutPrefix(p.Path, "~/"); found {
		return filepath.Join(home, below)
	}
	return filepath.Clean(p.Path)
}

// FleetAllow is what another user of the fleet may do on this machine. Its own user may do everything.
type FleetAllow struct {
	User string // or * for all
	May  []FleetRight
}

// FleetRight is something that others may do here.
type FleetRight string

const (
	// FleetView shows pipelines, agents and decisions, with what they say.
	FleetView FleetRight = "view"
	// FleetAnswer answers decisions.
	FleetAnswer FleetRight = "answer"
	// FleetRun starts, cancels and resumes pipelines, writes to agents and ends them: it runs commands here.
	FleetRun FleetRight = "run"
)

// fleetName is what names of members, projects and labels look like: they are parts of subjects.
const fleetName = "^[a-z0-9][a-z0-9-]{0,31}$"

func fleetNamed() typeOf[string] {
	return matching(fleetName, "has other characters than a-z, 0-9 and -, or more than 32", "")
}

func (f *Fleet) fields() []field {
	return []field{
		document.Key("labels", &f.Labels, listOf(fleetNamed()), "What this machine has that jobs may need, such as gpu."),
		document.Key("projects", &f.Projects, listOf(section((*FleetProject).fields)), "The projects that other machines may name in jobs and starts."),
		document.Key("allow", &f.Allow, listOf(section((*FleetAllow).fields)), "What other users of the fleet may do here. You yourself may do everything."),
	}
}

func (p *FleetProject) fields() []field {
	return []field{
		document.Key("name", &p.Name, fleetNamed(), "The name that the fleet uses.").Needed(),
		document.Key("path", &p.Path, anywhere(), "The project's directory here: absolute, or beginning with ~/.").Needed(),
	}
}

func (a *FleetAllow) fields() []field {
	return []field{
		document.Key("user", &a.User, matching(`^(\*|[A-Za-z0-9._-]{1,64})$`, "is not the name of a user", "or * for all users of the fleet"), "The user, as fleet status shows it, or * for all.").Needed(),
		document.Key("may", &a.May, listOf(oneOf(FleetView, FleetAnswer, FleetRun)), "view: see pipelines, agents and decisions. answer: answer decisions. run: start, cancel and resume pipelines, and write to agents, which means running commands as you.").Needed(),
	}
}
