package config

import (
	"math"

	"github.com/stopgate/stopgate/internal/project/document"
)

const (
	defaultDebugLogSize = 10 << 20
	maxDebugLogMB       = 1 << 20 // 1 TiB
)

const debugLogSays = "A debug log of runs. A project without this section uses the global config's."

func (l *DebugLog) fields() []field {
	return []field{
		document.Key("enabled", &l.Enabled, document.Optional(document.Flag), "Default: false."),
		document.Key("max_size_mb", &l.MaxSize, megabytes(), "The size in MB at which the log is rotated. Default: 10."),
	}
}

// debugLog reads one place's settings. A section that does not say enabled
// says no, as the older tool had it.
func debugLog() typeOf[DebugLog] {
	t := section((*DebugLog).fields)
	return document.New(func(v value, to *DebugLog) bool {
		if v.Node.Kind() != document.Null {
			to.Enabled = new(false)
		}
		return t.Read(v, to)
	}, t.Schema)
}

// megabytes reads a number of MiB above 0, not always a whole one.
func megabytes() typeOf[int64] {
	return document.Then(document.Amount(false, maxDebugLogMB), func(_ value, number float64) (int64, bool) {
		return int64(math.Ceil(number * (1 << 20))), true
	})
}

// ResolveDebugLog says what holds: what the project says, then what the global
// config says, then no log and 10 MiB.
func ResolveDebugLog(project, global DebugLog) (enabled bool, maxSize int64) {
	for _, size := range []int64{project.MaxSize, global.MaxSize, defaultDebugLogSize} {
		if size > 0 {
			maxSize = size
			break
		}
	}
	return *firstSet(project.Enabled, global.Enabled, new(false)), maxSize
}
