package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// What a step may hold, all of it in bytes of JSON: it has to fit into one event of the
// store.
const (
	maxStep   = store.MaxData
	maxEffect = runbook.MaxStart // an effect
	maxWords  = 4 << 10          // what agents and programs say
	maxAsked  = 64 << 10         // what a person asks for
	maxID     = 200              // what others give names to
)

// values are what templates can name.
func (d *draft) values() map[string]string {
	v := d.plainValues()
	name, plan := d.workspaceFor(d.current())
	w, known := d.Workspaces[name]
	switch lent := d.lent(); {
	case plan.Kind == "" && lent == nil:
		return v
	case plan.Kind == "":
		w = *lent
	case !known:
		w = d.planWorkspace(name, plan)
	}
	v["workspace.path"], v["workspace.branch"], v["workspace.base"] = d.WorkspacePath(w), w.Branch, w.Base
	d.locals(v)
	return v
}

// locals adds the named texts of the plan, which are made of the other values.
func (d *draft) locals(values map[string]string) {
	for name, text := range d.Plan.Pipeline.Locals {
		values["local."+name] = runbook.Expand(text, values)
	}
}

// plainValues are those that need no workspace.
func (d *draft) plainValues() map[string]string {
	v := map[string]string{
		"name": d.Name, "step": d.Step, "error": d.failure(), "project": d.Project, "invoke.dir": d.Cwd,
	}
	d.outputs(v)
	itemValues(v, d.item())
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
	d.locals(v)
	return v
}

// cwd is where the commands of the current step run. What is relative is seen from its workspace,
// where it has one, else from where the owner was started. An agent does not leave its own
// workspace for the pipeline's cwd.
func (d *draft) cwd() string {
	values, step := d.values(), d.current()
	base, dir := d.Cwd, runbook.Expand(d.Plan.Pipeline.Cwd, values)
	if name, plan := d.workspaceFor(step); plan.Kind != "" || d.lent() != nil {
		base = values["workspace.path"]
		if name != "" && filepath.IsAbs(dir) {
			dir = ""
		}
	}
	return within(within(base, dir), runbook.Expand(step.Cwd, values))
}

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

// sizeOf is how large a part of a step is in the store.
func sizeOf(v any) int {
	text, err := rawjson.Marshal(v)
	if err != nil {
		return maxStep + 1
	}
	return len(text)
}

// fits reports whether an effect can be recorded. Where it cannot, the step fails.
func (d *draft) fits(effect any, what string) bool {
	size := sizeOf(effect)
	if size <= maxEffect {
		return true
	}
	d.tooLarge = fmt.Sprintf("%s %d bytes; at most %d", what, size, maxEffect)
	d.fail(d.tooLarge)
	return false
}

// clip cuts a text off where it would have more than n bytes in the store, and says so.
func clip(text string, n int) string {
	text = sound(text)
	left, end := n, 0
	for at, r := range text {
		if left -= cost(r); left < 0 {
			return text[:end] + "…"
		}
		if left >= len("…") {
			end = at + utf8.RuneLen(r)
		}
	}
	return text
}

// clipStart keeps the end of a text.
func clipStart(text string, n int) string {
	text = sound(text)
	left, start := n, len(text)
	for at := len(text); at > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
		if left -= cost(r); left < 0 {
			return "…" + text[start:]
		}
		if left >= len("…") {
			start = at
		}
	}
	return text
}

// cost is how many bytes of JSON a character takes, at most.
func cost(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029':
		return 6
	}
	return utf8.RuneLen(r)
}

// sound is a text as it is when it comes back from the store: JSON has no other bytes
// than those of UTF-8.
func sound(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
