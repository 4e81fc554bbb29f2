package config

// Mode says whether what is judged is also held against the agent.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce" // the default
	// Observe judges and records everything, and blocks nothing.
	Observe Mode = "observe"
)

func readMode(v value, to *Mode) {
	var mode Mode
	if oneOf(v, &mode, Enforce, Observe) && mode != Enforce {
		*to = mode
	}
}

// Observes reports whether nothing is blocked, because the project or the user says so.
// The project may be nil.
func (g *Global) Observes(project *Project) bool {
	return g.Mode == Observe || project != nil && project.Mode == Observe
}

// ObservesBy is the file that says "mode: observe", the user's or the project's; empty where
// neither does.
func (g *Global) ObservesBy(project *Project, projectFile, globalFile string) string {
	switch {
	case !g.Observes(project):
		return ""
	case g.Mode == Observe:
		return globalFile
	}
	return projectFile
}
