package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// gsdAgent is an agent of the registry of gsd.
type gsdAgent struct {
	entry  registry.Entry
	where  func(*hujson.Value) string
	whole  *hujson.Value
	fields *hujson.Object
	older  bool   // of a version that finds sessions by the beginning of their names
	change string // how its session is called otherwise than before
}

// registry carries the agents of a registry over.
func (p *gsdPlan) registry(path string, text []byte) error {
	doc, err := jsonfile.Parse(p.draft.Shown(path), text)
	if err == nil {
		err = doc.NeedObject()
	}
	if err != nil {
		return settingsFault(err)
	}
	agents, isArray := jsonfile.ArrayOf(jsonfile.At(doc.Root(), "agents"))
	if !isArray {
		return settingsFault(doc.Refuse(doc.Root(), "agents must be an array"))
	}

	p.Find(p.draft.Shown(path))
	where := func(v *hujson.Value) string { return p.draft.At(path, doc.LineOf(v)) }
	for i, fields := range jsonfile.Objects(agents) {
		a := gsdAgent{where: where, whole: &agents.Elements[i], fields: fields, older: filepath.Base(path) == olderRegistry}
		a.read()
		if err := p.agent(a); err != nil {
			return err
		}
	}
	root, _ := doc.Object()
	for name, v := range jsonfile.Members(root) {
		if name != "agents" {
			p.Add(Item{Where: where(v), Setting: plain.Name(name), Fate: Left, Why: whyLeft(name)})
		}
	}
	return nil
}

// read reads an agent of version 4, or of one before. Those found sessions by the beginning of their names.
func (a *gsdAgent) read() {
	text := func(name string) string { return jsonfile.StringOf(jsonfile.Member(a.fields, name)) }
	a.entry = registry.Entry{
		AgentID:           text("agent_id"),
		Enabled:           jsonfile.KindOf(jsonfile.Member(a.fields, "enabled")) != 'f',
		SessionName:       registry.TmuxName(text("session_name")),
		WorkingDirectory:  text("working_directory"),
		OpenclawSessionID: text("openclaw_session_id"),
	}
	switch {
	case a.entry.SessionName == "" && a.entry.AgentID != "" && (a.older || text("tmux_session_name") != ""):
		a.entry.SessionName = registry.TmuxName(a.entry.AgentID) + "-*"
		a.change = "its sessions are found by the beginning of their names, as before"
		if text("tmux_session_name") != "" {
			a.change += "; tmux_session_name is not needed"
		}
	case a.entry.SessionName != text("session_name"):
		a.change = "that is what tmux calls the session " + plain.Name(text("session_name"))
	}
}

// agent adds an agent to our registry, unless its session has one there.
func (p *gsdPlan) agent(a gsdAgent) error {
	item := Item{
		Where: a.where(a.whole), Setting: "agent " + plain.Name(a.entry.AgentID), Fate: Carried,
		To: "session " + plain.Name(a.entry.SessionName) + " in " + p.draft.Shown(p.target),
	}
	if a.change != "" {
		item.Fate, item.Why = Differs, a.change
	}
	before, err := p.draft.Read(p.target)
	if err != nil {
		return err
	}

	after, err := registry.Added(p.draft.Shown(p.target), before, a.entry)
	taken, isTaken := errors.AsType[*registry.TakenError](err)
	refusal, isRefusal := errors.AsType[*jsonfile.Refusal](err)
	switch {
	case err == nil:
		if err := p.draft.Write(p.target, after); err != nil {
			return err
		}
	case isTaken && taken.AgentID == a.entry.AgentID:
		item.To += ", where it is already"
	case isTaken:
		item.Fate, item.To, item.Why = Left, "", fmt.Sprintf("session %s has the agent %s in %s already", plain.Name(taken.Session), plain.Name(taken.AgentID), p.draft.Shown(p.target))
	case isRefusal:
		return settingsFault(refusal)
	default:
		item.Fate, item.To, item.Why = Left, "", strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	p.Add(item)
	p.leftOf(a)
	return nil
}

// leftOf names the keys of an agent that are not carried over.
func (p *gsdPlan) leftOf(a gsdAgent) {
	carried := []string{"agent_id", "enabled", "session_name", "tmux_session_name", "working_directory", "openclaw_session_id"}
	for name, v := range jsonfile.Members(a.fields) {
		if !slices.Contains(carried, name) {
			p.Add(Item{Where: a.where(v), Setting: "agent " + plain.Name(a.entry.AgentID) + ": " + plain.Name(name), Fate: Left, Why: whyLeft(name)})
		}
	}
}

// whyLeft is why stopgate has no use for a key of an agent.
func whyLeft(key string) string {
	const elsewhere = "stopgate does not start the session"
	return cmp.Or(map[string]string{
		"system_prompt_file":                elsewhere + ": start it with claude --append-system-prompt",
		"system_prompt":                     elsewhere + ": start it with claude --append-system-prompt",
		"skip_permissions":                  elsewhere + ": start it with the permissions that it needs",
		"claude_launch_command":             elsewhere,
		"claude_resume_target":              elsewhere,
		"claude_post_launch_mode":           elsewhere,
		"auto_wake":                         "stopgate does not start sessions after a boot",
		"session_history":                   "it stays in this file",
		"version":                           "it is the version of this file",
		"topic_id":                          "stopgate sends no messages to a chat",
		"global_status_openclaw_session_id": "stopgate reports no global status: see stopgate status",
		"hook_settings":                     "stopgate reads the conversation, not the screen; what wakes an agent is wake_on in its registry",
	}[key], "stopgate does not know it")
}
