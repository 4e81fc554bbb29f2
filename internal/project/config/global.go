package config

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"
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
	// Payloads adds what the client sent, prompts and tool input included.
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
	meant := func(word string) bool { return Suggest(word, []string{string(TrustEnforce)}) != "" }
	if text == nil || len(text) > maxFileSize || slices.ContainsFunc(words, meant) {
		g.Trust = TrustEnforce
	}
	return g
}

// ParseGlobal reads the content of a global configuration. The name is for
// faults only.
func ParseGlobal(name string, data []byte) (*Global, error) {
	global, err := parseGlobal(name, data)
	if err != nil {
		return nil, err
	}
	return global, nil
}

// parseGlobal returns, beside the faults, the sections that have none.
func parseGlobal(name string, data []byte) (*Global, error) {
	global := defaultGlobal()
	global.Exists = true
	source := newSource(name, data)
	source.secrets = true // notify.urls
	err := source.decode(func(v value) {
		v.mapping(
			field{key: "trust", read: func(v value) { readTrust(v, &global.Trust) }},
			field{key: "mode", read: func(v value) { readMode(v, &global.Mode) }},
			field{key: "quiet", read: into(&global.Quiet, value.boolean)},
			field{key: "notify", read: whole(&global.Notify, readNotify)},
			field{key: "journal", read: whole(&global.Journal, readJournal)},
			field{key: "stop_hook", read: whole(&global.StopHook, readStopHook)},
			field{key: "debug_log", read: whole(&global.DebugLog, readDebugLog)},
			field{key: "supervisor", read: whole(&global.Supervisor, readSupervisor)},
			field{key: "terminal", read: whole(&global.Terminal, readTerminal)},
			field{key: "lifecycle", read: whole(&global.Lifecycle, readLifecycle)},
			field{key: "prices", read: whole(&global.Prices, func(v value, to *[]Price) { listOf(to, readPrice)(v) })},
		)
	})
	return global, err
}

// whole reads a section that counts only where it is without a fault: half of what a
// person wrote may be the opposite of what they meant.
func whole[T any](to *T, read func(value, *T)) func(value) {
	return func(v value) {
		section, before := *to, v.d.count
		if read(v, &section); v.d.count == before {
			*to = section
		}
	}
}

func defaultGlobal() *Global {
	return &Global{
		Journal:   Journal{MaxAge: defaultMaxAge, MaxSize: defaultMaxSize},
		Lifecycle: Lifecycle{WhenDaemonDown: AllowWhenDown},
	}
}

func readTrust(v value, to *Trust) {
	const off Trust = "off"
	var trust Trust
	if oneOf(v, &trust, off, TrustEnforce) && trust != off {
		*to = trust
	}
}

func readJournal(v value, to *Journal) {
	v.mapping(
		field{key: "payloads", read: func(v value) { v.boolean(&to.Payloads) }},
		field{key: "max_age", read: func(v value) { v.duration(&to.MaxAge, noLimit) }},
		field{key: "max_size", read: func(v value) { v.size(&to.MaxSize) }},
	)
}
