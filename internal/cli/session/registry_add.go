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
		Long: `Add an agent to agent-registry.json. It is woken when Claude Code in that tmux session stops,
asks or fails. NAME may be a pattern for several sessions: warden-*

The openclaw program wakes it, unless --transport, --url, --command or --to say otherwise. Edit
the file for everything else: what wakes it (wake_on), which commands may be typed into its
session (commands), automatic answers (answers), and where to find a token or secret.`,
		Example: `  stopgate registry add warden --session warden-main --workspace ~/project
  stopgate registry add warden --session 'warden-*' --transport openclaw-http
  stopgate registry add ops --session deploy --transport webhook \
    --url https://ops.example/hook
  stopgate registry add ops --session deploy --command notify --command --loud
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
			fmt.Fprintf(term.Prose(cmd.OutOrStdout()), "added %s for session %s to %s\ncheck it with: stopgate registry check\n", term.Shown(e.AgentID), term.Shown(e.SessionName), path)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "the tmux session, or a pattern for several")
	flags.StringVar(&f.workspace, "workspace", "", "the directory in which Claude Code works")
	flags.StringVar(&f.openclaw, "openclaw-session", "", "the agent's session id in OpenClaw")
	flags.StringVar(&f.transport, "transport", "", "openclaw, openclaw-http, webhook, command or session")
	flags.StringVar(&f.url, "url", "", "the URL for openclaw-http or webhook")
	flags.StringVar(&f.to, "to", "", "wake Claude Code in this tmux session")
	flags.StringArrayVar(&f.command, "command", nil, "run this program with the message on its standard input (repeat for each argument)")
	sessionFlag(cmd, "session")
	sessionFlag(cmd, "to")
	_ = cmd.RegisterFlagCompletionFunc("transport", cobra.FixedCompletions(transports(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
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
			return g, fmt.Errorf("%s cannot be used with the transport %s", flag.name, g.Transport)
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

// transports are what --transport can be.
func transports() []string {
	return []string{registry.ViaOpenClaw, registry.ViaOpenClawHTTP, registry.ViaWebhook, registry.ViaCommand, registry.ViaSession}
}
