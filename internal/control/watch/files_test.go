package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A file that is removed, and made again by who looks, is watched again.
func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	held, err := os.Create(path)
	check(t, err)
	defer held.Close() // a file that is in use is removed all the same
	ctx, cancel := context.WithCancel(t.Context())
	looked, ended := make(chan bool), make(chan struct{})
	go func() {
		defer close(ended)
		Files(ctx, []string{path}, func() bool {
			_, missing := os.Lstat(path)
			if missing != nil {
				_ = os.WriteFile(path, nil, 0o600) // else nothing is looked at again
			}
			select {
			case looked <- missing != nil:
			case <-ctx.Done():
			}
			return missing != nil
		}, func(err error) { t.Error(err) })
	}()
	for range 3 {
		for <-looked { // until it is as it should be
		}
		check(t, os.Remove(path))
		for !<-looked { // what happens to one file may be told twice
		}
	}
	cancel()
	<-ended
}
