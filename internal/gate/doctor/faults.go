package doctor

import (
	"cmp"
	"errors"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
)

// faulty notes why the configuration in dir cannot be read: each fault, as validate shows them.
func (e *examination) faulty(level Level, dir, shown string, err error) {
	faults := config.Validate(dir, shown)
	if len(faults) == 0 {
		e.find(level, "config", err.Error(), "stopgate validate")
	}
	for _, fault := range faults {
		e.find(level, "config", fault.String(), cmp.Or(fault.Hint, "stopgate validate"))
	}
}

// globalFaults notes why the global config cannot be read as it is.
func (e *examination) globalFaults(err error, then string) {
	faults, ok := errors.AsType[*document.Faults](err)
	if !ok {
		e.find(Warn, "global config", err.Error()+then, "stopgate validate")
		return
	}
	for _, fault := range faults.All {
		e.find(Warn, "global config", fault.String()+then, cmp.Or(fault.Hint, "stopgate validate"))
	}
}
