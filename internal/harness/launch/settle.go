package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// hookMargin is what Claude Code grants the hook beyond the review itself. A hook
// that Claude Code has to end counts as one that allowed.
const hookMargin = 60 * time.Second

// settle brings the settings file to what this launch needs, while no other launch
// looks at the records or changes settings.
func (l *launch) settle(act func(Registry) error) error {
	r := NewRegistry(l.StateDir)
	unlock, err := l.lock(r)
	if err == nil {
		defer unlock()
	}
	if l.named {
		l.remember()
	}
	if err != nil {
		return err
	}
	return act(r)
}

func (l *launch) lock(r Registry) (unlock func(), err error) {
	if l.StateDir == "" {
		return nil, errors.New("no state directory: set HOME or STOPGATE_STATE_DIR")
	}
	return r.lock(launchLock, launchPatience)
}

// plain takes our entry out of the settings file, and what other providers put
// there.
func (l *launch) plain(r Registry, before settingsFile) error {
	m, err := r.memoryOf(l.settings)
	if err != nil {
		return err
	}
	merge := l.merge()
	if merge == nil && len(m.Put) == 0 && !bytes.Contains(before.text, []byte(settings.SupervisorHook)) {
		if err := before.fault(); err != nil {
			l.warn(err)
		}
		return nil
	}
	own, _ := l.program() // without it our entry is known by its name
	err = l.apply(m, settings.Change{Remove: !r.supervises(m.Path), Own: own, Merge: merge})
	if errors.Is(err, errMemory) {
		return err
	}
	if err != nil {
		l.warn(err) // Claude Code makes do with the file, or without it
	}
	return nil
}

// supervised puts our entry into the settings file. The launch is on record before
// that, so that no plain launch takes the entry out again.
func (l *launch) supervised(r Registry, id string, timeout time.Duration) error {
	m, err := r.memoryOf(l.settings)
	if err != nil {
		return err
	}
	program, err := l.program()
	if err != nil {
		return err
	}
	r.tidy()
	if err := r.create(id, record{Claude: process.Self(), Host: hostname(), Settings: m.Path, Since: l.Now().UTC()}); err != nil {
		return err
	}
	err = l.apply(m, settings.Change{
		Supervisor: &settings.Entry{Event: hook.Stop, Command: settings.ShellCommand(program, settings.SupervisorHook), Timeout: timeout + hookMargin},
		Own:        program,
		Merge:      l.merge(),
	})
	if err != nil {
		r.remove(id)
	}
	return err
}

// merge is what the settings file shall hold beside the person's own values; nil
// for nothing.
func (l *launch) merge() json.RawMessage {
	all := l.config.MergedSettings(l.provider)
	if len(all) == 0 {
		return nil
	}
	text, _ := json.Marshal(all) // what was decoded encodes
	return text
}

// apply changes the settings file, and remembers what it put there: before, all that
// may be there whenever we are killed, and afterwards what is.
func (l *launch) apply(m memory, change settings.Change) error {
	change.Was = m.Put
	if err := m.store(m.with(l.additions(change.Merge))); err != nil {
		return err
	}
	put, _, err := settings.Apply(l.settings, change)
	if err != nil {
		return err
	}
	return m.store(put)
}

// additions are what merging adds to the settings file as it stands. Nothing is added
// to one that is not what it should be.
func (l *launch) additions(merge json.RawMessage) []settings.Put {
	if merge == nil {
		return nil
	}
	file := readSettingsFile(l.settings)
	wanted, _ := objectIn(merge)
	if file.members == nil && len(file.text) > 0 {
		return nil
	}
	return additions(file.members, wanted, nil)
}

// program is the absolute path of the name that we were called by, with its links:
// they stay when what they lead to is updated.
func (l *launch) program() (string, error) {
	path := l.Arg0
	if filepath.Base(path) == path {
		found, ok := environ.LookPath(l.Environ, path)
		if !ok {
			return filepath.Abs(l.Executable)
		}
		path = found
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if !disk.Same(path, l.Executable) { // a name that somebody else chose for us
		return filepath.Abs(l.Executable)
	}
	return path, nil
}
