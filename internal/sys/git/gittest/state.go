package gittest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// State is everything below a directory: content, mode and time of change.
func State(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, _ := os.ReadFile(path) // what cannot be read has no content
		all[path] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime(), sha256.Sum256(content))
		return nil
	})
	checktest.OK(t, err)
	return all
}
