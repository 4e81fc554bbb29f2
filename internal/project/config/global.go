package config

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Global is the user's own configuration, ~/.config/agent-gauntlet/config.yml.
type Global struct {
	// Exists tells a file that says nothing from no file at all.
	Exists     bool
	Trust      Trust
	Mode       Mode // of every project
	Quiet      bool // passes are not told
	Notify     Notify
	Journal    Journal
	StopHook   StopHook
	DebugLog   DebugLog
	Supervisor Supervisor
	Terminal   Terminal
	Lifecycle  Lifecycle
	Fleet      Fleet
	Retention  Retention
	Metrics    Metrics
	Traces     Traces
	Prices     []Price // the first that matches a model counts, before what is built in
}

// Trust says which projects' commands run.
type Trust string

// Enforces reports whether only approved content may run.
func (g *Global) Enforces() bool { return g.Trust == TrustEnforce }

const (
	// TrustOff runs what a project's configuration says.
	TrustOff Trust = ""
	// TrustEnforce runs what a person approved.
	TrustEnforce Trust = "enforce"
)

// Journal is what the journal holds, and for how long.
type Journal struct {
	// Payloads adds what Claude Code sent, prompts and tool input included.
	Payloads bool
	MaxAge   time.Duration
	MaxSize  int64 // bytes
}

const (
	defaultMaxAge  = 30 * 24 * time.Hour
	defaultMaxSize = 256 << 20
)

// LoadGlobal reads the global configuration. A missing file is no error: it
// gives the defaults. A file with faults gives both the faults and what holds in
// spite of them, see fallback.
func LoadGlobal(path string) (*Global, error) {
	data, err := read(path, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return defaultGlobal(), nil
	case err != nil:
		return defaultGlobal().fallback(nil), err
	}
	global, err := parseGlobal(path, data)
	if err != nil {
		return global.fallback(data), err
	}
	return global, nil
}

// fallback is what holds of a file with faults: each section that has none, and the
// defaults of the others. But a slip of the pen must not let run what nobody approved:
// where the text has the word enforce, or one that was meant to be it, or cannot be known,
// trust is enforced.
func (g *Global) fallback(text []byte) *Global {
	g.Exists, g.Trust = true, TrustOff
	// Without its NULs, UTF-16 reads like ASCII.
	words := strings.FieldsFunc(strings.ReplaceAll(string(text), "\x00", ""), func(r rune) bool { return !unicode.IsLetter(r) })
	meant := func(word string) bool { return document.Suggest(word, []string{string(TrustEnforce)}) != "" }
	if text == nil || len(text) > maxFileSize || slices.ContainsFunc(words, meant) {
		g.Trust = TrustEnforce
	}
	return g
}

// parseGlobal returns, beside the faults, the sections that have none.
func parseGlobal(name string, data []byte) (*Global, error) {
	global := defaultGlobal()
	global.Exists = true
	source := newSource(name, data)
	source.Secrets = true // notify.urls
	return global, decode(source, func(v value) { v.Mapping(global.fields()...) })
}

func (g *Global) fields() []field {
	return []field{
		document.Key("trust", &g.Trust, orDefault("off", TrustEnforce), "enforce: only approved content runs.").Default("off"),
		modeField(&g.Mode, "observe: run and record the gates in every project, but block nothing."),
		document.Key("quiet", &g.Quiet, document.Flag, "Do not report gates that passed.").Default(false),
		document.Key("notify", &g.Notify, whole(section((*Notify).fields)), "How you are notified."),
		document.Key("journal", &g.Journal, whole(section((*Journal).fields)), "What the journal keeps."),
		document.Key("stop_hook", &g.StopHook, whole(section((*StopHook).fields)), stopHookSays),
		document.Key("debug_log", &g.DebugLog, whole(debugLog()), debugLogSays),
		document.Key("supervisor", &g.Supervisor, whole(section((*Supervisor).fields)), "Reviews of an agent's work by a second Claude. ccc.json takes precedence."),
		document.Key("terminal", &g.Terminal, whole(section((*Terminal).fields)), "How the screen of Claude Code is read before something is typed into it."),
		document.Key("lifecycle", &g.Lifecycle, whole(section((*Lifecycle).fields)), "Agents that the daemon runs."),
		document.Key("fleet", &g.Fleet, whole(section((*Fleet).fields)), "What this machine is for the others of its fleet."),
		document.Key("retention", &g.Retention, whole(section((*Retention).fields)), "How long the daemon keeps what has ended."),
		document.Key("metrics", &g.Metrics, whole(section((*Metrics).fields)), "Metrics of the daemon, for Prometheus."),
		document.Key("traces", &g.Traces, whole(traces()), "Traces of stops, for an OpenTelemetry receiver."),
		document.Key("prices", &g.Prices, whole(listOf(section((*Price).fields))), "Prices of models. The first pattern that matches is used, before the built-in prices."),
	}
}

// whole reads a section that counts only where it is without a fault: half of what a
// person wrote may be the opposite of what they meant.
func whole[T any](t typeOf[T]) typeOf[T] {
	return document.New(func(v value, to *T) bool {
		section, before := *to, v.Count
		t.Read(v, &section)
		if v.Count > before {
			return false
		}
		*to = section
		return true
	}, t.Schema)
}

func defaultGlobal() *Global {
	return &Global{
		Journal:   Journal{MaxAge: defaultMaxAge, MaxSize: defaultMaxSize},
		Lifecycle: Lifecycle{WhenDaemonDown: AllowWhenDown},
		Retention: Retention{Keep: defaultKeep, KeepSize: defaultKeepSize, LogSize: defaultLogSize},
	}
}

func (j *Journal) fields() []field {
	return []field{
		document.Key("payloads", &j.Payloads, document.Flag, "Keep what Claude Code sent, including prompts and tool input.").Default(false),
		document.Key("max_age", &j.MaxAge, duration(noLimit), "How long records are kept.").Default("720h"),
		document.Key("max_size", &j.MaxSize, size, "How much disk space they may use.").Default("256MiB"),
	}
}
