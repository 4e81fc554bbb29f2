//go:build unix

package atomicfile

import "os"

const chmodUnsupported = false

// SyncDir makes a rename inside dir durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
