package registry

import (
	"fmt"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// maxAgents bounds the work on a file that is not what it should be.
const maxAgents = 2000

// file reads all entries.
func (r *reader) file() {
	agents := r.agents()
	if agents == nil {
		r.unread = true
		return
	}
	for i := range agents.Elements {
		r.at = i
		if p, ok := r.agent(&agents.Elements[i]); ok {
			r.parsed = append(r.parsed, p)
		}
	}
	r.at = whole
}

// agents is the list of entries; nil if there is none that could be read.
func (r *reader) agents() *hujson.Array {
	root, ok := r.doc.Object()
	if !ok {
		r.fault(r.doc.Root(), "the top level", jsonfile.MustBe("an object", r.doc.Root()), "")
		return nil
	}
	r.slips(root, "", []string{"agents"}, []string{"hook_settings", "global_status_openclaw_session_id"})
	v := jsonfile.Member(root, "agents")
	if v == nil {
		r.fault(r.doc.Root(), "agents", "is missing", `a registry of nobody is {"agents": []}`)
		return nil
	}
	agents, ok := jsonfile.ArrayOf(v)
	if !ok {
		r.fault(v, "agents", jsonfile.MustBe("an array", v), "")
		return nil
	}
	if len(agents.Elements) > maxAgents {
		r.fault(v, "agents", fmt.Sprintf("has %d entries, which is more than %d", len(agents.Elements), maxAgents), "")
		return nil
	}
	return agents
}

// agent reads an entry. One without a session is none.
func (r *reader) agent(v *hujson.Value) (p parsed, ok bool) {
	o, ok := jsonfile.ObjectOf(v)
	if !ok {
		r.fault(v, "", jsonfile.MustBe("an object", v), "")
		return p, false
	}
	p = parsed{node: v, at: r.at}
	p.Enabled = true
	var gateway *hujson.Value
	older := false
	for i := range o.Members {
		m := &o.Members[i].Value
		switch name := jsonfile.StringOf(&o.Members[i].Name); name {
		case "agent_id":
			p.AgentID = r.word(m, name)
		case "session_name":
			p.SessionName = r.session(m, name)
		case "tmux_session_name":
			older = true
		case "enabled":
			p.Enabled = jsonfile.KindOf(m) != 'f' // as the older tool had it
			if kind := jsonfile.KindOf(m); kind != 'f' && kind != 't' {
				r.warn(m, name, "is neither true nor false, and counts as true", "")
			}
		case "working_directory":
			p.WorkingDirectory = r.text(m, name)
		case "openclaw_session_id":
			p.OpenclawSessionID = r.word(m, name)
		case "gateway":
			gateway = m
		case "wake_on":
			p.WakeOn = r.wakeOn(m, name)
		case "commands":
			p.Commands = r.texts(m, name)
		case "answers":
			p.Answers = r.rules(m, name)
		}
	}
	p.Gateway, p.gateway = r.gateway(gateway)
	r.slips(o, "", entryNames(), olderNames())
	r.need(v, "agent_id", p.AgentID, jsonfile.Member(o, "agent_id"), "")
	hint := ""
	if older {
		hint = "it has the name of tmux_session_name, which is no longer read"
	}
	r.need(v, "session_name", p.SessionName, jsonfile.Member(o, "session_name"), hint)
	p.named = p.AgentID != ""
	return p, p.SessionName != ""
}

func entryNames() []string {
	return []string{
		"agent_id", "session_name", "enabled", "working_directory", "openclaw_session_id",
		"gateway", "wake_on", "commands", "answers",
	}
}

// olderNames are those of earlier tools, which do nothing here.
func olderNames() []string {
	return []string{
		"system_prompt_file", "skip_permissions", "session_history",
		"tmux_session_name", "auto_wake", "topic_id", "claude_launch_command", "claude_resume_target",
		"claude_post_launch_mode", "system_prompt", "hook_settings",
	}
}

// need wants a text. Where a value is there that is no good, that has been said.
func (r *reader) need(parent *hujson.Value, path, text string, v *hujson.Value, hint string) {
	switch kind := jsonfile.KindOf(v); {
	case text != "":
	case v == nil || kind == 'n':
		r.fault(parent, path, "is missing", hint)
	case jsonfile.StringOf(v) == "" && kind == '"':
		r.fault(v, path, "must not be empty", hint)
	}
}

// session reads the name of a session. A bad pattern is still a name.
func (r *reader) session(v *hujson.Value, path string) string {
	name := r.word(v, path)
	if IsPattern(name) && !validGlob(name) {
		r.fault(v, path, fmt.Sprintf("is no pattern: %s", name), "a [ needs its ]; * is any text and ? one character")
	}
	return name
}

// wakeOn reads kinds. A list that is none leaves out no kind.
func (r *reader) wakeOn(v *hujson.Value, path string) []string {
	a, ok := jsonfile.ArrayOf(v)
	if !ok {
		r.fault(v, path, jsonfile.MustBe("an array of strings", v), "")
		return nil
	}
	known, list := kinds(), []string{}
	for i := range a.Elements {
		list = append(list, r.oneOf(&a.Elements[i], fmt.Sprintf("%s[%d]", path, i), known...))
	}
	return list
}
