package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

func NewProvider() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "provider",
		Short: "List, choose and check the providers of stopgate claude",
		Long: `List, choose and check providers: the endpoints, keys and models that stopgate claude can start
Claude Code with. They are defined in ~/.claude/ccc.json. No command shows a key or a token.`,
		Example: `  stopgate provider list
  stopgate provider use glm
  stopgate provider check`,
	}, newProviderList(), newProviderUse(), newProviderCheck())
}

func newProviderList() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "list",
		Short: "List the providers, their hosts and what they set",
		Long: `List the providers with their hosts and the names of the variables and settings that they set.
Providers are defined in ~/.claude/ccc.json and used by stopgate claude; the current one is marked.`,
		Example: `  stopgate provider list
  stopgate provider list --json | jq -r '.[].name'`,
		Args: term.NoArgs,
	}, func(*cobra.Command, []string) (providerViews, error) {
		c, err := loadProviders()
		if err != nil {
			return nil, forLaunch(err)
		}
		return providersOf(c, os.Environ()), nil
	})
}

func newProviderUse() *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "use NAME",
		Short:                 "Make a provider the current one",
		Long:                  "Make a provider the default of stopgate claude.",
		Example:               "  stopgate provider use glm",
		DisableFlagsInUseLine: true,
		Args:                  term.OneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadProviders()
			if err != nil {
				return forLaunch(err)
			}
			if args[0] == "" {
				return term.BadUsage(errors.New("the provider's name is empty"), "usage: "+cmd.UseLine())
			}
			name, err := c.Choose(args[0])
			if err != nil {
				return forLaunch(err)
			}
			if err := c.Use(name); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "current provider: %s\n", launch.Shown(name))
			return nil
		},
	}
	term.CompleteArgs(cmd, 1, providerNames)
	return cmd
}

// providerNames are the providers for the shell to complete.
func providerNames(context.Context) []string {
	c, err := loadProviders()
	if err != nil {
		return nil
	}
	return c.Names()
}

// loadProviders reads ccc.json.
func loadProviders() (*launch.Config, error) {
	dir, err := paths.LauncherDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	return launch.Load(filepath.Join(dir, launch.ConfigFile))
}

// providerView is what people may see of a provider.
type providerView struct {
	Name     string   `json:"name"`
	Current  bool     `json:"current"`
	Endpoint string   `json:"endpoint,omitempty"` // a host
	Env      []string `json:"env"`                // names
	Settings []string `json:"settings"`           // names
}

type providerViews []providerView

func providersOf(c *launch.Config, environ []string) providerViews {
	list := providerViews{}
	current, _ := c.Choose("") // without one, none is marked
	for _, name := range c.Names() {
		list = append(list, providerView{
			Name: name, Current: name == current, Endpoint: endpointOf(c, name, environ),
			Env: append([]string{}, c.VariableNames(name)...), Settings: append([]string{}, c.SettingNames(name)...),
		})
	}
	return list
}

// endpointOf is the host that a provider leads to; "" where it is Claude Code's own or
// cannot be told. The rest of an address may hold a key.
func endpointOf(c *launch.Config, provider string, environ []string) string {
	text, err := c.Variable(provider, "ANTHROPIC_BASE_URL", environ)
	if err != nil {
		return ""
	}
	address, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return address.Host
}

// Print implements term.View.
func (list providerViews) Print(out io.Writer) {
	p := term.PaintFor(out)
	for _, v := range list {
		mark, name := " ", launch.Shown(v.Name)
		if v.Current {
			mark, name = "*", p.Bold(name)
		}
		if v.Endpoint != "" {
			name += "  " + term.Shown(v.Endpoint)
		}
		fmt.Fprintf(out, "%s %s\n", mark, name)
		for _, part := range []struct {
			title string
			names []string
		}{{"env", v.Env}, {"settings", v.Settings}} {
			if len(part.names) > 0 {
				fmt.Fprintf(out, "    %s\n", p.Faint(part.title+": "+term.Shown(strings.Join(part.names, ", "))))
			}
		}
	}
}
