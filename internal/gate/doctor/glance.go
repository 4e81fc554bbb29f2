package doctor

import (
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Glance is what files tell of whether a project is enforced. Nothing is run for it, neither of the project
// nor of ours, so that it can be shown to people again and again.
type Glance struct {
	Root string
	Gone bool // there is no such directory any more
	// Trust is how the project's files stand to what was approved; "" where trust is not enforced.
	Trust      trust.State
	Changed    []string // since they were approved
	ApprovedAt time.Time
	Fault      string // what is wrong with the approval
	Configured bool   // it has, or had when it was approved, a configuration
	Invalid    bool   // what counts of its configuration cannot be used
	Hooks      settings.Reach
	Off        *stop.Recess
	// Exempt are the settings by which red gates block no stop, and Failures the failing runs where the retry
	// limit is reached: then they block none either.
	Exempt   []config.Exemption
	Failures int
	Tested   *Tested
}

// Look looks at a project.
func Look(stateDir string, global *config.Global, root string, now time.Time) Glance {
	g := Glance{Root: root, Gone: !disk.IsDir(root)}
	if g.Gone {
		return g
	}

	store := trust.NewStore(stateDir)
	g.Configured = paths.HasConfig(root) || global.Enforces() && store.Gated(root)
	if global.Enforces() {
		standing, err := store.Standing(root)
		g.Trust, g.Changed, g.ApprovedAt = standing.State, standing.Changed, standing.ApprovedAt
		if err != nil {
			g.Fault = plain.Line(err.Error())
		}
	}
	if g.Configured {
		g.lookAtGates(stateDir, global, root)
	}

	g.Hooks = settings.ReachOf(root)
	if recess, on := stop.InRecess(stateDir, root, now); on {
		g.Off = &recess
	}
	if tested, err := statefile.Read[Tested](testedPath(stateDir, root), maxTested); err == nil {
		g.Tested = &tested
	}
	return g
}

// lookAtGates tells whether red gates would block a stop.
func (g *Glance) lookAtGates(stateDir string, global *config.Global, root string) {
	locator := stop.Locator{StateDir: stateDir, Global: global, Environ: os.Environ()}
	project := locator.Locate(root, false).Project
	g.Invalid = project == nil && g.Trust != trust.Untrusted && g.Trust != trust.Damaged
	if project != nil {
		globalFile, _ := paths.GlobalConfig() // only named
		g.Exempt = global.Exemptions(project.Config, os.Environ(), paths.ProjectConfig(root), globalFile)
	}
	if state, err := ledger.Open(stateDir, root).Read(); err == nil && state.Series.Limit {
		g.Failures = state.Series.Failures
	}
}

// Tested is what doctor found in a project the last time.
type Tested struct {
	Root  string    `json:"root"`
	Time  time.Time `json:"time"`
	Live  bool      `json:"live"`            // a block was seen to block
	Fault string    `json:"fault,omitempty"` // the first finding, where it is not
}

// maxTested is more than any record of ours has.
const maxTested = 64 << 10

// Keep writes down what was found, for those who look later.
func (r Report) Keep(stateDir, root string, now time.Time) error {
	t := Tested{Root: root, Time: now, Live: r.Live()}
	for _, f := range r.Findings {
		if !t.Live && t.Fault == "" && (f.Level == Dead || f.Level == Unsure) {
			t.Fault = f.Label() + ": " + f.Text
		}
	}
	return statefile.Write(testedPath(stateDir, root), t)
}

func testedPath(stateDir, root string) string {
	return filepath.Join(stateDir, "doctor", trust.ProjectKey(root)+".json")
}
