//go:build unix

package world

import (
	"encoding/binary"
	"errors"
	"os"
	"time"
)

// SetClock makes the machine's time of day later than the true one, or earlier, and SlowSync makes each sync of a file
// take longer. Both are for programs that were built with [programs.BuildRigged]; others do not look.
func (m *Machine) SetClock(ahead time.Duration) error { return m.setRig(0, int64(ahead/time.Second)) }

func (m *Machine) SlowSync(by time.Duration) error { return m.setRig(8, int64(by)) }

// setRig changes one number in place: running programs have the file mapped.
func (m *Machine) setRig(at int64, value int64) error {
	f, err := os.OpenFile(m.rig, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(value)), at)
	return errors.Join(err, f.Close())
}
