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
		r.fault(r.doc.Root(), "agents", "is missing", `an empty registry is {"agents": []}`)
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
	members := r.entryMembers(&p.OutsideAgent, &gateway)
	r.read(o, "", members)
	p.Gateway, p.gateway = r.gateway(gateway)
	r.slips(o, "", names(members), olderNames())
	r.need(v, "agent_id", p.AgentID, jsonfile.Member(o, "agent_id"), "")
	hint := ""
	if jsonfile.Member(o, "tmux_session_name") != nil {
		hint = "rename tmux_session_name, which is no longer read, to session_name"
	}
	r.need(v, "session_name", p.SessionName, jsonfile.Member(o, "session_name"), hint)
	p.named = p.AgentID != ""
	return p, p.SessionName != ""
}

func (r *reader) entryMembers(a *OutsideAgent, gateway **hujson.Value) []member {
	return []member{
		{name: "agent_id", read: into(&a.AgentID, r.word)},
		{name: "session_name", read: into(&a.SessionName, r.session)},
		{name: "enabled", read: into(&a.Enabled, r.enabled)},
		{name: "working_directory", read: into(&a.WorkingDirectory, r.text)},
		{name: "openclaw_session_id", read: into(&a.OpenclawSessionID, r.word)},
		{name: "gateway", read: func(v *hujson.Value, _ string) { *gateway = v }},
		{name: "wake_on", read: into(&a.WakeOn, r.wakeOn)},
		{name: "commands", read: into(&a.Commands, r.texts)},
		{name: "answers", read: into(&a.Answers, r.rules)},
	}
}

// enabled takes everything but false for true, as the older tool had it.
func (r *reader) enabled(v *hujson.Value, path string) bool {
	kind := jsonfile.KindOf(v)
	if kind != 'f' && kind != 't' {
		r.warn(v, path, "is not a boolean and counts as true", "")
	}
	return kind != 'f'
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
		r.fault(v, path, fmt.Sprintf("is not a valid pattern: %s", name), "[ needs a closing ]; * matches any text and ? one character")
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
