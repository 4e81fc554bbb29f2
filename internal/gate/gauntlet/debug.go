package gauntlet

import (
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
)

// debugLog writes a line into the project's debug log, where there is one. It is
// for people who look for a fault; the journal is what counts.
func debugLog(logs logdir.Dir, project *keeper.Project, global *config.Global, now func() time.Time) func(format string, args ...any) {
	enabled, maxSize := config.ResolveDebugLog(project.Config.Gauntlet.DebugLog, global.DebugLog)
	if !enabled {
		return func(string, ...any) {}
	}
	log := logs.DebugLog(maxSize)
	return func(format string, args ...any) { log.Printf(now(), format, args...) }
}
