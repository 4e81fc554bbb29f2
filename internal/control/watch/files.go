package watch

import (
	"context"
	"fmt"

	"github.com/fsnotify/fsnotify"

	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Files calls look when it begins and after something happened to one of some files: it
// was removed, or another took its place. It ends with the context. Who looks reports
// whether there are other files now; then they are watched, and looked at again.
//
// A system that watches no more for us is told of, and tried again.
func Files(ctx context.Context, paths []string, look func() (renewed bool), tell func(error)) {
	for ctx.Err() == nil {
		err := files(ctx, paths, look)
		if err == nil || ctx.Err() != nil {
			return
		}
		tell(err)
		look()
		_ = pause.For(ctx, longest)
	}
}

func files(ctx context.Context, paths []string, look func() (renewed bool)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer watcher.Close()

	for {
		for _, path := range paths {
			_ = watcher.Remove(path) // of the file that was there before
			_ = watcher.Add(path)    // one that is not there is for look to find
		}
		if look() {
			continue
		}

		select {
		case <-ctx.Done():
			return nil
		case _, open := <-watcher.Events:
			if !open {
				return fmt.Errorf("watch files: %w", fsnotify.ErrClosed)
			}
		case err := <-watcher.Errors:
			return fmt.Errorf("watch files: %w", err)
		}
	}
}
