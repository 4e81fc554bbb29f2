package cli

import (
	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/demo"
	"github.com/stopgate/stopgate/internal/cli/entry"
	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/cli/plane"
	"github.com/stopgate/stopgate/internal/cli/session"
	"github.com/stopgate/stopgate/internal/cli/setup"
	"github.com/stopgate/stopgate/internal/cli/status"
)

// group is a part of the help.
type group struct {
	id, title string
	commands  []*cobra.Command
}

const (
	groupSetup = "setup"
	groupTools = "tools"
)

// groups are all commands, in the order in which a user needs them.
func groups() []group {
	return []group{
		{groupSetup, "Set up and diagnose", []*cobra.Command{
			setup.NewInit(), setup.NewDoctor(), setup.NewHooks(), setup.NewTrust(), setup.NewApprove(), setup.NewOff(), setup.NewOn(), demo.New(),
		}},
		{"see", "See and answer", []*cobra.Command{
			status.NewStatus(), status.NewWhy(), status.NewLog(), status.NewStats(), plane.NewUI(), plane.NewTop(), plane.NewDecision(),
		}},
		{"gates", "Gates", []*cobra.Command{
			gates.NewRun(), gates.NewCheck(), gates.NewReview(), gates.NewDetect(), gates.NewList(), gates.NewViolations(), gates.NewVerifyProof(), gates.NewClean(),
		}},
		{"sessions", "Sessions", []*cobra.Command{
			launcher.NewClaude(), launcher.NewProvider(), launcher.NewSupervisor(), session.NewQueue(),
		}},
		{"pipelines", "Pipelines", []*cobra.Command{
			plane.NewStart(), plane.NewRunbook(), plane.NewPipeline(), plane.NewAgent(entry.NewAgentHook()),
			plane.NewSchedule(), plane.NewWork(), plane.NewWorker(), plane.NewDaemon(), plane.NewFleet(), plane.NewJob(),
		}},
		{groupTools, "Other commands", []*cobra.Command{
			entry.NewHook(), entry.NewStopHook(), entry.NewSupervisorHook(), entry.NewStatusLine(), plane.NewEmit(), session.NewRegistry(), plane.NewWorkspace(), plane.NewPrune(),
			setup.NewMigrate(), setup.NewValidate(), gates.NewHealth(), gates.NewCI(), setup.NewSchema(), setup.NewUninstall(), newVersion(),
		}},
	}
}
