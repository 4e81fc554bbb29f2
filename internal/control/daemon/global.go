package daemon

import (
	"log/slog"
	"reflect"
	"sync"

	"github.com/stopgate/stopgate/internal/project/config"
)

// globalConfig is the person's configuration. While it has faults, it is as it was without
// them: a slip of the pen lifts no limit, and is no reason to tell nobody. Where it never
// was without, those of its sections hold that have none.
type globalConfig struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex
	last  *config.Global
	fault string // that was logged
}

func (c *globalConfig) load() (*config.Global, error) {
	global, err := config.LoadGlobal(c.path)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logFault(err)
	switch {
	case err == nil:
		c.last = global
	case c.last == nil:
		return global, err
	}
	return c.last, nil
}

// logFault logs what is wrong when that changes: the file is read again and again.
func (c *globalConfig) logFault(err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	switch {
	case fault == c.fault:
	case fault == "":
		c.log.Info("the global configuration is valid again")
	default:
		c.log.Warn("the global configuration is invalid; using the previous one", "error", fault)
	}
	c.fault = fault
}

// now is the configuration, whatever is wrong with it.
func (c *globalConfig) now() *config.Global {
	global, _ := c.load() // what is wrong was logged
	return global
}

// notify is how people are told. That nobody is, because nobody knows how, is an error.
func (c *globalConfig) notify() (config.Notify, error) {
	global, err := c.load()
	if err != nil && reflect.ValueOf(global.Notify).IsZero() {
		return config.Notify{}, err
	}
	return global.Notify, nil
}
