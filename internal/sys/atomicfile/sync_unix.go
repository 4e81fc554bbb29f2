//go:build unix

package atomicfile

import (
	"os"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/internal/step"
)

const chmodUnsupported = false

// SyncDir makes a rename inside dir durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return err
	}
	step.Done(step.Step{Kind: step.SyncedDir, Path: dir})
	return nil
}
