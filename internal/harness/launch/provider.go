package launch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Names lists the providers in order.
func (c *Config) Names() []string { return sorted(c.Providers) }

// Choose is the provider that is meant by the name. With none, it is the current
// one, or the only one there is.
func (c *Config) Choose(name string) (string, error) {
	_, known := c.Providers[name]
	switch {
	case name != "" && known:
		return name, nil
	case name != "":
		return "", c.unknown(fmt.Errorf("there is no provider %s in %s", Shown(name), c.Path), name)
	case c.Current != "":
		if _, known := c.Providers[c.Current]; !known {
			return "", c.unknown(fmt.Errorf("current_provider in %s is %s, which does not exist", c.Path, Shown(c.Current)), c.Current)
		}
		return c.Current, nil
	case len(c.Providers) == 1:
		return c.Names()[0], nil
	case len(c.Providers) == 0:
		return "", ConfigError{fmt.Errorf("%s has no providers", c.Path), minimal(c.Path)}
	}
	return "", c.unknown(errors.New("no provider chosen: "+c.Path+" does not set current_provider"), "")
}

// unknown adds which providers there are, and which one may have been meant.
func (c *Config) unknown(err error, word string) error {
	if len(c.Providers) == 0 {
		return ConfigError{err, minimal(c.Path)}
	}
	var names []string
	for _, name := range c.Names() {
		names = append(names, Shown(name))
	}
	e := ConfigError{error: fmt.Errorf("%w; available: %s", err, strings.Join(names, ", "))}
	if near := document.Suggest(word, c.Names()); near != "" {
		e.Hint = "did you mean " + Shown(near) + "?"
	}
	return e
}

// Use makes the provider the current one. Every other byte of the file stays.
func (c *Config) Use(name string) error {
	if c.Current == name {
		return nil
	}
	_, err := jsonfile.Edit(c.Path, func(d *jsonfile.Document) error {
		d.Set("current_provider", name)
		return nil
	})
	return err
}

// MergedSettings are the provider's settings over those for all, without the
// environment.
func (c *Config) MergedSettings(provider string) Object {
	return c.Providers[provider].onTop(c.Settings).without("env")
}

// SettingNames lists what the provider sets in Claude Code's settings.
func (c *Config) SettingNames(provider string) []string { return sorted(c.MergedSettings(provider)) }

// VariableNames lists what the provider sets in Claude Code's environment.
func (c *Config) VariableNames(provider string) []string { return sorted(c.variables(provider)) }

// Environment is what the provider sets in Claude Code's environment. $NAME and
// ${NAME} are taken from environ, $$ is a dollar sign. Errors never hold a value.
func (c *Config) Environment(provider string, variables []string) (map[string]string, error) {
	env := map[string]string{}
	var faults []string
	for _, name := range c.VariableNames(provider) {
		value, err := c.Variable(provider, name, variables)
		if err != nil {
			faults = append(faults, fmt.Sprintf("provider %s: %s: %v", Shown(provider), name, err))
		}
		env[name] = value
	}
	if len(faults) > 0 {
		return nil, ConfigError{error: errors.New(strings.Join(faults, "\n"))}
	}
	return env, nil
}

// Variable is one of them; "" where the provider does not set it.
func (c *Config) Variable(provider, name string, variables []string) (string, error) {
	text, _ := scalarIn(c.variables(provider)[name]) // Load has looked
	return expand(text, func(name string) (string, bool) { return environ.Lookup(variables, name) })
}

// Unset lists the variables that values of the provider's refer to and that have no value.
func (c *Config) Unset(provider string, getenv func(name string) string) (names []string) {
	for _, name := range c.VariableNames(provider) {
		text, _ := scalarIn(c.variables(provider)[name])         // Load has looked
		_, _ = expand(text, func(wanted string) (string, bool) { // what is not a name is told by Environment
			if getenv(wanted) == "" && !slices.Contains(names, wanted) {
				names = append(names, wanted)
			}
			return "", true
		})
	}
	return names
}

// ClaudeEnviron is the environment of Claude Code when it is started with the provider from
// one that has these variables.
func (c *Config) ClaudeEnviron(provider string, variables []string) ([]string, error) {
	provided, err := c.Environment(provider, variables)
	if err != nil {
		return nil, err
	}
	env := newEnvironment(variables)
	env.overlay(provided)
	return env.entries, nil
}

func (c *Config) variables(provider string) Object {
	own, _ := objectIn(c.Providers[provider]["env"])
	base, _ := objectIn(c.Settings["env"])
	return own.onTop(base)
}

// Shown is a name as it is, or quoted where it would not be read as one.
func Shown(name string) string {
	if name != "" && plain.Line(name) == name && !slices.Contains([]rune(name), ' ') {
		return name
	}
	return strconv.Quote(name)
}
