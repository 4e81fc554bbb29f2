package cli

import (
	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/demo"
	"github.com/stopgate/stopgate/internal/cli/entry"
	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/launcher"
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
			status.NewStatus(), status.NewWhy(), status.NewLog(), status.NewStats(), daemon.NewUI(), daemon.NewTop(), daemon.NewDecision(),
		}},
		{"gates", "Gates", []*cobra.Command{
			gates.NewRun(), gates.NewCheck(), gates.NewReview(), gates.NewDetect(), gates.NewList(), gates.NewViolations(), gates.NewVerifyProof(), gates.NewClean(),
		}},
		{"sessions", "Sessions", []*cobra.Command{
			launcher.NewClaude(), launcher.NewProvider(), launcher.NewSupervisor(), session.NewQueue(),
		}},
		{"pipelines", "Pipelines", []*cobra.Command{
			daemon.NewStart(), daemon.NewRunbook(), daemon.NewPipeline(), daemon.NewAgent(entry.NewAgentHook()),
			daemon.NewSchedule(), daemon.NewWork(), daemon.NewWorker(), daemon.NewDaemon(), daemon.NewFleet(), daemon.NewJob(),
		}},
		{groupTools, "Other commands", []*cobra.Command{
			entry.NewHook(), entry.NewStopHook(), entry.NewSupervisorHook(), entry.NewStatusLine(), daemon.NewEmit(), session.NewRegistry(), daemon.NewWorkspace(), daemon.NewPrune(),
			setup.NewMigrate(), setup.NewValidate(), gates.NewHealth(), gates.NewCI(), setup.NewSchema(), setup.NewUninstall(), newVersion(),
		}},
	}
}
