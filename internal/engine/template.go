package engine

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/runbook"
)

// What a step may hold: it has to fit into one event of the store.
const (
	maxEffect = 160 << 10 // an effect, as JSON
	maxWords  = 4 << 10   // what agents and programs say
	maxAsked  = 64 << 10  // what a person asks for
	maxID     = 200       // what others give names to
)

// values are what templates can name.
func (d *draft) values() map[string]string {
	v := map[string]string{
		"name": d.Name, "step": d.Step, "error": d.Error, "project": d.Project, "invoke.dir": d.Cwd,
	}
	if d.Kind == Pipeline {
		v["pipeline_id"] = d.ID
	} else {
		v["agent_run_id"] = d.ID
	}
	if d.Agent != nil {
		v["agent_id"], v["agent"] = d.Agent.ID, d.Agent.Name
	}
	for name, value := range d.Vars {
		v["var."+name] = value
	}
	return v
}

// cwd is where the pipeline's commands run.
func (d *draft) cwd() string { return within(d.Cwd, runbook.Expand(d.Plan.Pipeline.Cwd, d.values())) }

// within is a directory as seen from another.
func within(base, dir string) string {
	switch {
	case dir == "":
		return base
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(base, dir)
}

// sizeOf is how large a part of an effect is in the store.
func sizeOf(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return maxEffect + 1
	}
	return len(text)
}

// clip cuts a text off at n bytes, and says so.
func clip(text string, n int) string {
	if len(text) <= n {
		return sound(text)
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return sound(text[:n]) + "…"
}

// clipStart keeps the end of a text.
func clipStart(text string, n int) string {
	if len(text) <= n {
		return sound(text)
	}
	at := len(text) - n + len("…")
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return "…" + sound(text[at:])
}

// sound is a text as it is when it comes back from the store: JSON has no other bytes
// than those of UTF-8.
func sound(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
