package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// ConfigFile is the name of the launcher's configuration, in paths.LauncherDir.
const ConfigFile = "ccc.json"

// Config is ccc.json.
type Config struct {
	Path       string
	Settings   Object            // for every provider
	Providers  map[string]Object // by name: settings too, of which env is most of it
	Current    string            // the provider when none is named; may be ""
	ClaudeArgs []string          // before the person's own
	Supervisor config.Supervisor
}

// Load reads ccc.json. Faults come all at once, with their places. That there is no
// such file is a ConfigError too, and fs.ErrNotExist.
func Load(path string) (*Config, error) {
	d, err := jsonfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ConfigError{fmt.Errorf("%s: %w", path, fs.ErrNotExist), minimal(path)}
	}
	if err != nil {
		return nil, ConfigError{error: err}
	}
	c, err := decode(path, d)
	if err != nil {
		return nil, ConfigError{error: err}
	}
	return c, nil
}

func decode(path string, d *jsonfile.Document) (*Config, error) {
	if err := check(path, d, configRule()); err != nil {
		return nil, err
	}
	file := objectOf(d)
	c := &Config{Path: path, Providers: map[string]Object{}}
	c.Settings, _ = objectIn(file["settings"]) // of the right types all
	providers, _ := objectIn(file["providers"])
	for name, value := range providers {
		c.Providers[name], _ = objectIn(value)
	}
	c.Current, _ = scalarIn(file["current_provider"])
	var err error
	block, _ := objectIn(file["supervisor"])
	c.Supervisor, err = supervisorIn(block)
	err = errors.Join(err, file.read("claude_args", &c.ClaudeArgs))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// LoadSupervisor reads only what ccc.json says about reviews, so that a fault
// elsewhere costs none. Of a block with faults the rest holds. A missing file says
// nothing.
func LoadSupervisor(path string) (config.Supervisor, error) {
	d, err := jsonfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config.Supervisor{}, nil
	}
	if err == nil {
		err = d.NeedObject()
	}
	if err != nil {
		return config.Supervisor{}, err
	}
	rule := jsonfile.Fields(map[string]jsonfile.Rule{"supervisor": supervisorRule()})
	block, _ := objectIn(objectOf(d)["supervisor"])
	for _, fault := range d.Check(rule) {
		delete(block, strings.TrimPrefix(fault.Path, "supervisor."))
	}
	s, err := supervisorIn(block)
	return s, errors.Join(check(path, d, rule), err)
}

// Variables are what the providers of ccc.json set, of those whose values can be told.
func Variables(path string, environ []string) (entries []string) {
	c, err := Load(path)
	if err != nil {
		return nil
	}
	for _, name := range c.Names() {
		for _, variable := range c.VariableNames(name) {
			if value, err := c.Variable(name, variable, environ); err == nil {
				entries = append(entries, variable+"="+value)
			}
		}
	}
	return entries
}

// supervisorIn reads the block of a file that has been checked. A whole number may be
// written 1e1.
func supervisorIn(block Object) (s config.Supervisor, err error) {
	var iterations, seconds *float64
	err = errors.Join(
		block.read("max_iterations", &iterations),
		block.read("timeout_seconds", &seconds),
		block.read("prompt_file", &s.PromptFile),
		block.read("max_cost_usd", &s.MaxCost),
	)
	if iterations != nil {
		s.MaxIterations = new(int(*iterations))
	}
	if seconds != nil {
		s.Timeout = new(time.Duration(*seconds) * time.Second)
	}
	return s, err
}

// check names every fault, each with its place.
func check(path string, d *jsonfile.Document, rule jsonfile.Rule) error {
	if err := d.NeedObject(); err != nil {
		return err
	}
	var faults []document.Fault
	for _, fault := range d.Check(rule) {
		faults = append(faults, document.Fault{
			Position: document.Position{File: path, Line: fault.Line, Column: fault.Column},
			Message:  plain.Line(fault.Path + " " + fault.Text),
		})
	}
	if len(faults) == 0 {
		return nil
	}
	return &document.Faults{All: faults}
}
