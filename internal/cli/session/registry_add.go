package session

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/registry"
)

// agentFlags are what registry add says about an agent.
type agentFlags struct {
	session, workspace, openclaw string
	transport, url, to           string
	command                      []string
}

func newRegistryAdd() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "add AGENT_ID --session NAME",
		Short: "Add an agent for a session",
		Long: `Add an agent to agent-registry.json: it is woken when the client in that tmux session
stops, asks or fails. NAME may be a pattern for several sessions: warden-*

It is woken through the openclaw program, or as --transport, --url, --command and --to say.
Everything else is for an editor: what wakes it (wake_on), what may be typed into its session
(commands), questions it need not be asked (answers), where a token or secret is found.`,
		Example: `  stopgate registry add warden --session warden-main --workspace ~/project
  stopgate registry add warden --session 'warden-*' --transport openclaw-http
  stopgate registry add ops --session deploy --transport webhook --url https://ops.example/hook
  stopgate registry add ops --session deploy --command notify-me --command --loud
  stopgate registry add boss --session worker --to boss`,
		Args: term.OneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := f.entry(args[0])
			if err != nil {
				return term.BadUsage(err, "usage: "+cmd.UseLine())
			}
			path, err := registryPath()
			if err != nil {
				return err
			}
			if err := registry.Add(path, e); err != nil {
				return forTaken(err, path)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "added %s for the session %s to %s\nprove it with: stopgate registry check\n", term.Shown(e.AgentID), term.Shown(e.SessionName), path)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "the tmux session, or a pattern for several")
	flags.StringVar(&f.workspace, "workspace", "", "the directory that the client works in")
	flags.StringVar(&f.openclaw, "openclaw-session", "", "the agent's session id in OpenClaw")
	flags.StringVar(&f.transport, "transport", "", "openclaw, openclaw-http, webhook, command or session")
	flags.StringVar(&f.url, "url", "", "where openclaw-http or webhook sends to")
	flags.StringVar(&f.to, "to", "", "wake the client in this tmux session")
	flags.StringArrayVar(&f.command, "command", nil, "run this program, with the message on its input; once for each argument")
	return cmd
}

// entry is what the flags mean. What names one transport only need not name it twice.
func (f *agentFlags) entry(agent string) (registry.Entry, error) {
	e := registry.Entry{AgentID: agent, Enabled: true, SessionName: f.session, OpenclawSessionID: f.openclaw}
	if f.session == "" {
		return e, errors.New("--session is missing")
	}
	if name := registry.TmuxName(f.session); !registry.IsPattern(f.session) && name != f.session {
		return e, fmt.Errorf("tmux has no session %q; it calls it %q", f.session, name)
	}
	if f.workspace != "" {
		dir, err := filepath.Abs(f.workspace)
		if err != nil {
			return e, err
		}
		e.WorkingDirectory = dir
	}
	g, err := f.gateway()
	if err != nil {
		return e, err
	}
	if g.Transport != "" {
		e.Gateway = &g
	}
	return e, e.Check()
}

func (f *agentFlags) gateway() (registry.EntryGateway, error) {
	g := registry.EntryGateway{Transport: f.transport, URL: f.url, Command: f.command, Session: f.to}
	if g.Transport == "" {
		switch {
		case f.to != "":
			g.Transport = registry.ViaSession
		case len(f.command) > 0:
			g.Transport = registry.ViaCommand
		case f.url != "":
			return g, errors.New("--url needs --transport openclaw-http or --transport webhook")
		}
	}
	http := g.Transport == registry.ViaOpenClawHTTP || g.Transport == registry.ViaWebhook
	for _, flag := range []struct {
		name     string
		set, fit bool
	}{
		{"--url", f.url != "", http},
		{"--command", len(f.command) > 0, g.Transport == registry.ViaCommand},
		{"--to", f.to != "", g.Transport == registry.ViaSession},
	} {
		if flag.set && !flag.fit {
			return g, fmt.Errorf("%s does not go with the transport %s", flag.name, g.Transport)
		}
	}
	return g, nil
}

// forTaken says what to do about a session that has an agent already.
func forTaken(err error, path string) error {
	if _, ok := errors.AsType[*registry.TakenError](err); ok {
		return term.WithHint(err, "change or remove that entry in "+path)
	}
	return err
}
