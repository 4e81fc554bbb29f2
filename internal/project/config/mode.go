package config

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Mode says whether what is judged is also held against the agent.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce" // the default
	// Observe judges and records everything, and blocks nothing.
	Observe Mode = "observe"
)

// modeField reads a mode; the default is the same as none.
func modeField(to *Mode, says string) field {
	return document.Key("mode", to, orDefault(Enforce, Observe), says).Default(Enforce)
}

// orDefault reads one of a few words. The first of them is the same as none.
func orDefault[T ~string](choices ...T) typeOf[T] {
	return document.Then(oneOf(choices...), func(_ value, word T) (T, bool) { return word, word != choices[0] })
}

// Observes reports whether nothing is blocked, because the project or the user says so.
// The project may be nil.
func (g *Global) Observes(project *Project) bool {
	return g.Mode == Observe || project != nil && project.Mode == Observe
}

// Exemption is a setting by which red gates block no stop.
type Exemption struct {
	Setting string `json:"setting"` // as in "mode: observe"
	Means   string `json:"means"`
	File    string `json:"file,omitempty"` // that has it; empty for a variable
}

// Name is the setting's key.
func (e Exemption) Name() string {
	name, _, _ := strings.Cut(e.Setting, ":")
	return name
}

// String is the setting's value, and what it means.
func (e Exemption) String() string {
	return strings.TrimPrefix(e.Setting, e.Name()+": ") + ": " + e.Means
}

// Remedy says how a person gets rid of it.
func (e Exemption) Remedy() string {
	if e.File == "" {
		return "unset " + e.Name()
	}
	return fmt.Sprintf("remove %q from %s", e.Setting, e.File)
}

// Exemptions lists the settings by which red gates of a project block no stop.
func (g *Global) Exemptions(project *Project, variables []string, projectFile, globalFile string) (all []Exemption) {
	if g.Observes(project) {
		file := projectFile
		if g.Mode == Observe {
			file = globalFile
		}
		all = append(all, Exemption{"mode: observe", "stops are checked but never blocked", file})
	}
	if e := disabled(variables, project.Gauntlet.StopHook, g.StopHook, projectFile, globalFile); e != nil {
		all = append(all, *e)
	}
	if project.Gauntlet.MaxRetries == 0 {
		all = append(all, Exemption{"max_retries: 0", "every stop is allowed, even if gates fail", projectFile})
	}
	return all
}
