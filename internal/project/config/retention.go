package config

import (
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Retention is how long the daemon keeps what has ended: pipelines and agent runs, with their
// logs and files.
type Retention struct {
	Keep     time.Duration // after the end
	KeepSize int64         // bytes that all that has ended may take: the oldest go first
	LogSize  int64         // bytes of the log of one step
}

// What is kept where the file says nothing.
const (
	defaultKeep     = 30 * 24 * time.Hour
	defaultKeepSize = 1 << 30
	defaultLogSize  = 16 << 20
)

func (r *Retention) fields() []field {
	return []field{
		document.Key("keep", &r.Keep, duration(noLimit), "How long pipelines and agent runs are kept after they have ended, with their logs and files; on the machine that made a fleet, its jobs too.").Default("720h"),
		document.Key("keep_size", &r.KeepSize, size, "How much disk space those that have ended may use. The oldest are removed first.").Default("1GiB"),
		document.Key("log_size", &r.LogSize, size, "How much of a step's output is kept: its beginning and its end.").Default("16MiB"),
	}
}
